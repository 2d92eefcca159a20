"""The seed engine: from lists of URLs to contracts about how their domains are fetched.

In: a dataset's `raw/` tree. Out: its `prod/` tree, one contract for each registrable domain of a
partition, and `rejects/`. `orchestrate` finds raw files and sends them to a queue, `process` makes
messages of one file's domains, `domain` collects what a contract says of one of them; `consume`
lends both their work and ends it. No page is fetched here.
"""
