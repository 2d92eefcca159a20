"""The store behind a data directory: a SQLite file in it, or the database that the setting `db`
names. Whatever the store, the archive and the outputs lie in the directory.

PostgreSQL is an extra: nothing of it is imported before a URL asks for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from geomi.adapters.machine.clock import SystemClock, open_clock, open_shared_clock
from geomi.adapters.sqlite import SqliteStore, open_sqlite
from geomi.errors import ConfigError, StoreMissing
from geomi.settings.options import Settings

if TYPE_CHECKING:
    from geomi.adapters.postgres import PostgresStore

    Store = SqliteStore | PostgresStore

TENANT = "local"  # the embedded command line's own tenant; it has no quota
DATABASE = "geomi.db"


def has_store(root: Path, settings: Settings) -> bool:
    """Whether there is something to open, as far as can be seen without opening it."""
    return bool(settings.db) or (root / DATABASE).is_file()


def open_store(
    root: Path, settings: Settings, *, create: bool = True, waits: bool = False
) -> Store:
    """Open the store of a data directory, and make one that is not there if `create` says so.

    Args:
        waits: give a server that is away the time to come back; a person is told at once.
    """
    store = _open(root, settings, create=create, waits=waits)
    store.frontier.max_queued = settings.max_queued or 0
    return store


def clock_of(store: Store) -> SystemClock:
    """Return the clock that every process of a store shares."""
    return open_clock(store) if isinstance(store, SqliteStore) else open_shared_clock(store)


def owners_here(store: Store) -> Sequence[str] | None:
    """Name the owners of leases, where all of them belong to this directory: in a file.

    None for a shared database: who holds a lease there may live on another machine.
    """
    return store.lease_owners() if isinstance(store, SqliteStore) else None


def _open(root: Path, settings: Settings, *, create: bool, waits: bool) -> Store:
    if settings.db:
        return _open_postgres(settings.db, create=create, waits=waits)
    if not create and not (root / DATABASE).is_file():
        raise StoreMissing(f"`{root}` holds no geomi data", hint="give the directory with -o DIR")
    return open_sqlite(root / DATABASE, tenant=TENANT)


def _open_postgres(url: str, *, create: bool, waits: bool) -> PostgresStore:
    if find_spec("psycopg") is None:
        raise ConfigError(
            "a PostgreSQL database needs psycopg, which is not installed",
            hint="pip install 'geomi[postgres]'",
        )
    from geomi.adapters.postgres import open_postgres  # an extra

    return open_postgres(url, tenant=TENANT, create=create, waits=waits)
