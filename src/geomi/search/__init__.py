"""The pure parts of search: tokens, queries, the fusion of two rankings, and snippets.

Texts and rankings come in; tokens, frozen queries and short quotations go out. This package never
looks anything up: an index decides which chunks match.
"""
