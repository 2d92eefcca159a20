"""The book-keeping of a store: how a host's row changes, and what a visit counts for.

Rows and visits come in, new rows and sums go out. Everything here is pure, so two databases can
never lend, rest or count differently. Nothing here opens, reads or writes anything.
"""
