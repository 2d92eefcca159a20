"""Bring a store to this version's schema: numbered files, forward only, all in one transaction."""

from __future__ import annotations

from geomi.adapters.store.postgres.address import DatabaseAddress
from geomi.adapters.store.postgres.session import PostgresSession
from geomi.adapters.store.statements import migrations, statements
from geomi.errors import StoreError, StoreMissing, StoreTooNew

SQL = statements("store.postgres", "server")

OLDEST_SERVER = 150_000  # the oldest that is tried: SKIP LOCKED claims were measured from here on
ENCODING = "UTF8"


def migrate(db: PostgresSession, address: DatabaseAddress, *, create: bool) -> None:
    """Apply what is missing; refuse a store that a newer geomi has written."""
    _refuse_server(db, address)
    steps = migrations("store.postgres")
    done = _version(db, address)
    if done == len(steps):
        return
    if done == 0 and not create:
        raise StoreMissing(
            f"`{address.shown}` holds no geomi data", hint="a crawl with the same --db makes it"
        )
    with db.transaction():
        db.row(SQL["lock_schema"])  # however many open a new store at once
        _apply(db, steps, address)


def _refuse_server(db: PostgresSession, address: DatabaseAddress) -> None:
    """Raise where the server is too old, or its database cannot keep every letter."""
    version, encoding = db.row(SQL["server"]) or (0, "")
    if encoding != ENCODING:
        raise StoreError(
            f"the database `{address.shown}` keeps text as {encoding}",
            hint=f"make one with: createdb -E {ENCODING} -T template0 NAME",
        )
    if version < OLDEST_SERVER:
        raise StoreError(
            f"the server of `{address.shown}` is PostgreSQL {version // 10_000}",
            hint="geomi needs PostgreSQL 15 or newer",
        )


def _apply(db: PostgresSession, steps: list[str], address: DatabaseAddress) -> None:
    done = _version(db, address)  # again: another process may have been faster
    if done > len(steps):
        raise StoreTooNew(
            f"the store `{address.shown}` has schema {done}; "
            f"this geomi knows schemas up to {len(steps)}",
            hint="use a newer geomi, or another database",
        )
    if done == 0:
        # The name was checked letter by letter when the URL was read.
        db.script(f'CREATE SCHEMA IF NOT EXISTS "{address.schema}"')
    for number, step in enumerate(steps[done:], start=done + 1):
        db.script(step)
        db.run(SQL["put_version"], {"version": number})


def _version(db: PostgresSession, address: DatabaseAddress) -> int:
    """Return the number of the last step; 0 where there is no store yet."""
    if not db.value(SQL["has_store"], {"schema": address.schema}):
        return 0
    return int(db.value(SQL["version"]))
