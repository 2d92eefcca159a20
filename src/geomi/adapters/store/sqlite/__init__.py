"""A store in one SQLite file: frontier, jobs, pages, robots copies, the log of requests, and what
people decided about sites, behind one tenant's handle.

Values of `geomi.model` come in and go out; rows, statements and driver errors stay inside. Every
write is one transaction on the store's own thread, so the event loop never waits for a lock. It
must never lend a host early, lose a URL, or count what was not committed.
"""
