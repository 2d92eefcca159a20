"""Where a crawl begins: what a site itself lists, and what somebody else has found.

In come the bytes of a sitemap, of a raw file, of a contract or a checkpoint; out come the URLs they
name and what else they say, with what was wrong with them, and the bytes of contracts, checkpoints
and messages. It never fetches, opens a file, follows an index or decides whether a URL belongs to
the crawl.
"""
