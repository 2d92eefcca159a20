"""Answering a query over chunks: tokens, the query, fusing two rankings, snippets.

Texts and rankings come in, tokens, frozen queries and short quotations go out. It must never look
anything up: which chunks match is for an index to say.
"""
