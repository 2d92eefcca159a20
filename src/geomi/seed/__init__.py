"""Where a crawl begins: what a site itself lists.

In come the bytes of a sitemap; out come the URLs it names, with what was wrong with it. It never
fetches, follows an index or decides whether a URL belongs to the crawl.
"""
