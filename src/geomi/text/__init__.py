"""Small functions on text and bytes: digests, sortable identifiers, the language of a text.

Text, bytes, times and random generators come in; short strings go out. This package must never read
a clock or draw randomness of its own.
"""
