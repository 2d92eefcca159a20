"""A page's markdown in parts of at most 500 tokens, for search and embeddings.

Markdown comes in, frozen `Chunk` values go out, and a report on whether their sizes are healthy.
It must never lose a word of a page without counting it, tear a code block open, or give another id
to a part that nobody has edited.
"""
