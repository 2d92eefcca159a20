"""Read what a site lists, and what external sources offer: a crawl begins there.

In come the bytes of a sitemap, a feed or an `/llms.txt`, or what a source of external documents
offers; out come the URLs they name, with dates, languages and what was wrong. This package
never fetches, opens a file, follows an index of sitemaps or decides whether a URL is in the crawl.
"""
