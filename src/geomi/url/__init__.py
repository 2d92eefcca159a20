"""URLs as values: text comes in, parsed and canonical URLs and their host names go out.

Every package that judges, fetches or stores a URL uses this parser, so that no two packages read a
string differently. This package must never know what a crawl wants, and never raise for bad text.
"""
