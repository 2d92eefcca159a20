"""Datasets of the seed engine: keys and bytes come in, files in a directory or a bucket go out.

What lies below `raw/` is somebody else's and never written to but for checkpoints; no key leads out
of a dataset's root; and nothing is half there.
"""
