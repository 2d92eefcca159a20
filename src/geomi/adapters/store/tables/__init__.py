"""The tables of the store that are not hot, one module each, for SQLite and PostgreSQL alike.

A module holds what a table checks, how its rows are read and written, and the one class that
implements its port. It speaks to a `Session` and never to a driver. Statements are in
`sql/NAME.sql`, and in `sql/NAME.postgres.sql` only where their text differs.
"""
