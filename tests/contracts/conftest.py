"""The stores that have to keep the contract."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import cast

import pytest

pytest.register_assert_rewrite("tests.contracts.suites")

from geomi.adapters.store.store import open_sqlite  # noqa: E402
from geomi.ports.store import Store  # noqa: E402
from tests.contracts.reference import open_memory  # noqa: E402  # after the assertions are rewritten
from tests.contracts.suites.handles import Stores  # noqa: E402
from tests.support.postgres import Cluster  # noqa: E402


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def stores(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stores]:
    """Open one store, for as many tenants as a test asks for."""
    with ExitStack() as opened:
        match request.param:
            case "memory":
                yield cast("Stores", open_memory("nobody").open_for)
            case "sqlite":
                yield _in_sqlite(tmp_path / "store.db", opened)
            case "postgres":
                cluster: Cluster = request.getfixturevalue("cluster")
                yield _in_postgres(cluster.new_schema(), opened)


@pytest.fixture(params=["sqlite", "postgres"])
def durable_stores(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stores]:
    """Open one store that outlives its handles, as often as a test asks for."""
    with ExitStack() as opened:
        if request.param == "sqlite":
            yield _in_sqlite(tmp_path / "store.db", opened)
        else:
            cluster: Cluster = request.getfixturevalue("cluster")
            yield _in_postgres(cluster.new_schema(), opened)


def _in_sqlite(path: Path, opened: ExitStack) -> Stores:
    def open_for(tenant: str) -> Store:
        store = open_sqlite(path, tenant=tenant)
        opened.callback(store.close)
        return store

    return open_for


def _in_postgres(url: str, opened: ExitStack) -> Stores:
    from geomi.adapters.store.store import open_postgres  # an extra

    def open_for(tenant: str) -> Store:
        store = open_postgres(url, tenant=tenant)
        opened.callback(store.close)
        return store

    return open_for
