"""The book-keeping that every store shares: how a host's row lives, and what a visit counts for.

Rows and visits come in, new rows and sums go out. Pure: two stores that keep their rows in
different places can then never lend, rest or count differently. It must never open, read or write
anything.
"""
