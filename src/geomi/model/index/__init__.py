"""The values of enrichment and search: analysis, chunks, documents, queries, language models.

A page comes out of a crawl; these values say what was understood of it, how its text was cut, what
an index keeps and answers, and what questions to models cost. They import the values of a page and
never the other way round, except that a job's configuration names the rules of its analysis.
"""
