"""A store in one schema of a PostgreSQL database, for any number of workers on any machines.

`frontier` is the `HotPath` of this database; `claim`, `settle`, `links`, `hosts` and `cash` do its
work, many rows in each statement. Workers settle side by side, so every transaction takes its locks
in one order: hosts, new keys, entries, pages, queues, rules, jobs, quotas. A claim waits for no
host that another holds. Nothing here shows a password.
"""
