"""A random walk over all stores at once."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from geomi.adapters.store.store import open_sqlite
from geomi.ports.store import Store
from tests.contracts.reference import open_memory
from tests.contracts.suites.walk import Walk
from tests.support.postgres import Cluster
from tests.support.stores import with_parts


@pytest.mark.slow
def test_all_stores_answer_the_same_script_alike(tmp_path: Path, cluster: Cluster) -> None:
    from geomi.adapters.store.store import open_postgres  # an extra

    numbers = count()

    def in_memory() -> Store:
        return with_parts(open_memory("local"))

    def in_sqlite() -> Store:
        return open_sqlite(tmp_path / f"{next(numbers)}.db", tenant="local")

    def in_postgres() -> Store:
        return open_postgres(cluster.new_schema(), tenant="local")

    class AllStores(Walk):
        openers = (in_memory, in_sqlite, in_postgres)
        close = staticmethod(_close)

    run_state_machine_as_test(
        AllStores,
        settings=settings(
            max_examples=30,
            stateful_step_count=30,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        ),
    )


def _close(store: Store) -> None:
    if close := getattr(store, "close", None):
        close()
