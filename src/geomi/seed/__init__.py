"""What a site lists, and what others have written about it: where a crawl begins.

In come the bytes of a sitemap, a feed or an `/llms.txt`, or what a source of external documents
offers; out come the URLs they name, with dates, languages and what was wrong. It never fetches,
opens a file, follows an index of sitemaps or decides whether a URL belongs to the crawl.
"""
