"""Small values made of text and bytes: digests, sortable names, the language of a text.

Text, bytes, times and random generators come in, short strings go out. It must never read a clock
or draw randomness of its own.
"""
