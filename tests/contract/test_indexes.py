"""The indexes that have to keep the contract."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path

import pytest

from geomi.adapters.index.lance import open_lance_index
from geomi.adapters.index.sqlite import open_sqlite_index
from geomi.ports.index import KeptIndex
from geomi.testing.contracts.documents import Indexes
from geomi.testing.contracts.indexing import TestDeletes, TestFilters, TestPreviews, TestWords
from geomi.testing.contracts.vectors import TestVectors
from tests.conftest import missing_part

__all__ = ["TestDeletes", "TestFilters", "TestPreviews", "TestVectors", "TestWords"]


@pytest.fixture(params=["sqlite", pytest.param("lance", marks=pytest.mark.slow)])
def indexes(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Indexes]:
    """Open one index, for as many tenants as a test asks for."""
    if request.param == "lance" and find_spec("lancedb") is None:
        missing_part("no lancedb: pip install 'geomi[lance]'")
    with ExitStack() as opened:

        def open_for(tenant: str) -> KeptIndex:
            index: KeptIndex
            if request.param == "sqlite":
                index = open_sqlite_index(tmp_path, tenant=tenant)
            else:
                index = open_lance_index(str(tmp_path), tenant=tenant)
            opened.callback(index.close)
            return index

        yield open_for
