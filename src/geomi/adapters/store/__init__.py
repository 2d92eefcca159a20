"""The store: what geomi keeps in a database, SQLite or PostgreSQL, behind one tenant's handle.

Values of `geomi.model` come in and go out; rows, statements and driver errors stay inside.
- `rows` maps dataclasses to columns by name; `statements` loads SQL for both databases.
- `tables` has one class for each table that is not hot, written once for both databases.
- `accounting` is pure: how hosts, cash, budgets, quotas and counters change.
- `sqlite` and `postgres` open, migrate and lock, and keep what must be fast for each of them
  alone: claim, settle, links, hosts, cash.

The store must never lend a host early, lose a URL, or count what was not committed. Both databases
pass the same contract suite. Migrations only go forward.
"""
