"""A store in one schema of a PostgreSQL database, for any number of workers on any machines.

The twin of `adapters/store/sqlite`: the same values come in and go out, under the same contract;
rows, statements and driver errors stay inside. Workers settle side by side, so every transaction
takes its locks in one order: hosts, new keys, entries, pages, queues, rules, jobs. A claim waits
for no host that another holds. It must never lend a host early, lose a URL, count what was not
committed, or show a password.
"""
