"""A random walk over both stores at once."""

from __future__ import annotations

from itertools import count
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from geomi.adapters.memory import open_memory
from geomi.adapters.sqlite import SqliteStore, open_sqlite
from geomi.testing.contracts.material import Store
from geomi.testing.contracts.walk import Walk


def test_memory_and_sqlite_answer_the_same_script_alike(tmp_path: Path) -> None:
    numbers = count()

    def in_memory() -> Store:
        return open_memory("local")

    def in_sqlite() -> Store:
        return open_sqlite(tmp_path / f"{next(numbers)}.db", tenant="local")

    class BothStores(Walk):
        openers = (in_memory, in_sqlite)
        close = staticmethod(_close)

    run_state_machine_as_test(
        BothStores,
        settings=settings(
            max_examples=30,
            stateful_step_count=30,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        ),
    )


def _close(store: Store) -> None:
    if isinstance(store, SqliteStore):
        store.close()
