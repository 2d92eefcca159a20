"""The values of the seed engine: partitions, contracts, and the messages of its queues.

A dataset has raw files with lists of URLs and one contract for each domain. The stage `dataset`
reads and writes these values as JSON; `engine/seeds` works on them. Nothing here opens a file.
"""
