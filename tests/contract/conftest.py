"""The stores that have to keep the contract."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

pytest.register_assert_rewrite("geomi.testing.contracts")

from geomi.adapters.memory import open_memory  # noqa: E402  # after the assertions are rewritten
from geomi.adapters.sqlite import open_sqlite  # noqa: E402
from geomi.testing.contracts.material import Store, Stores  # noqa: E402


@pytest.fixture(params=["memory", "sqlite"])
def stores(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stores]:
    """Open one store, for as many tenants as a test asks for."""
    with ExitStack() as opened:
        world = open_memory("nobody")

        def in_memory(tenant: str) -> Store:
            return world.open_for(tenant)

        def in_sqlite(tenant: str) -> Store:
            store = open_sqlite(tmp_path / "store.db", tenant=tenant)
            opened.callback(store.close)
            return store

        yield in_memory if request.param == "memory" else in_sqlite
