"""URLs as values: text comes in, parsed and canonical URLs and their host names go out.

Everything that judges, fetches or stores a URL uses what is parsed here, so that no two rooms ever
read one string differently. It must never know what a crawl wants, and never raise for bad text.
"""
