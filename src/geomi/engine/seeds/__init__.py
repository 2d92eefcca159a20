"""Turn lists of URLs into contracts, which say how to fetch their domains.

In: the `raw/` tree of a dataset. Out: its `prod/` tree, with one contract for each registrable
domain of a partition, and `rejects/`. `orchestrate` puts raw files into a queue, `raw_files` makes
messages of a file's domains, and `domains` writes a domain's contract. `queue` borrows tasks for
both and settles them. `handover` gives finished contracts to a crawl.

Rules kept:
- A checkpoint is written last; without one, the work counts as not done (C-92).
- A message is acknowledged by itself, and after its last try it is a dead letter (C-85, SED-43).
- Before each write, the worker checks that it still has the task's loan.
- robots.txt, sitemaps and server facts are requested as politely as in a crawl. No page is fetched.
"""
