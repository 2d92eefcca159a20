"""Models that texts are handed to.

Texts come in, vectors go out. It must never fetch a model: whoever names a folder has it.
"""
