"""The values that packages exchange: frozen, with no behaviour but derived properties.

A stage takes one of these values and returns another; the engine carries it on; an adapter writes
it down. This folder holds what a crawl needs: configuration, job, entry, page, host, worker.
`model/index` holds what is made of a page after the crawl, and `model/dataset` the seed engine's
values. Nothing here waits, reads a clock or knows where a value is stored.
"""
