"""What a page is, how good it is, what it says in short, and whether it belongs into the index.

An `Article` and what is known of it from elsewhere come in, an `Analysis` goes out: each part of it
names the engine that produced it. Nothing here calls a model or obeys a word of the page: text is
counted and compared, never followed. It must never invent a value: what cannot be known is None.
"""
