"""A random walk over both stores at once."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import HealthCheck, settings

from geomi.adapters.memory import open_memory
from geomi.adapters.sqlite import SqliteStore, open_sqlite
from geomi.testing.contracts.material import Store
from geomi.testing.contracts.walk import Walk


def _in_memory() -> Store:
    return open_memory("local")


def _in_sqlite() -> Store:
    return open_sqlite(Path(tempfile.mkdtemp()) / "store.db", tenant="local")


def _close(store: Store) -> None:
    if isinstance(store, SqliteStore):
        store.close()


class BothStores(Walk):
    """Memory and SQLite give the same answers to the same script."""

    openers = (_in_memory, _in_sqlite)
    close = staticmethod(_close)


TestWalk = BothStores.TestCase
TestWalk.settings = settings(
    max_examples=40,
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
