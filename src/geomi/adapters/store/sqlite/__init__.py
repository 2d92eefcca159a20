"""A store in one SQLite file: connection, migrations, and what must be fast.

Every write is one transaction on the store's own thread, so the event loop never waits for a lock.
`frontier` is the `HotPath` of this database; `claim`, `settle`, `links`, `hosts` and `cash` do its
work, one row after the other.
"""
