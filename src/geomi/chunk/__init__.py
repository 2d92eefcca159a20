"""Cut a page's markdown into chunks of at most 500 tokens, for search and embeddings.

In comes markdown; out go frozen `Chunk` values and a report on whether their sizes are healthy.
This package must never lose a word of a page without counting it, cut a code block without closing
it, or change the id of a part that nobody has edited.
"""
