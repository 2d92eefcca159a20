"""The store: what geomi keeps in a database, SQLite or PostgreSQL, behind one tenant's handle.

Values of `geomi.model` come in and go out; rows, statements and driver errors stay inside.
- `store` opens a store and names its parts; `session` is what a table asks of a database.
- `tables` has one class for each table that is not hot, written once for both databases.
- `mapping` makes columns of dataclasses by name, `rows` those of the hot tables; `statements` loads
  SQL.
- `hot` names what each database does in its own way, in `sqlite` and `postgres`: claim, settle,
  links, hosts, cash. They also connect, migrate and lock.
- `accounting` is pure: how hosts, cash, waiting URLs and counters change.

The store must never lend a host early, lose a URL, or count what was not committed. Both databases
pass the same contract suite. Migrations only go forward.
"""
