"""The indexes that have to keep the contract."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from geomi.adapters.index.sqlite import open_sqlite_index
from geomi.ports.index import KeptIndex
from geomi.testing.contracts.documents import Indexes
from geomi.testing.contracts.indexing import TestDeletes, TestFilters, TestPreviews, TestWords
from geomi.testing.contracts.vectors import TestVectors

__all__ = ["TestDeletes", "TestFilters", "TestPreviews", "TestVectors", "TestWords"]


@pytest.fixture
def indexes(tmp_path: Path) -> Iterator[Indexes]:
    """Open one index, for as many tenants as a test asks for."""
    with ExitStack() as opened:

        def open_for(tenant: str) -> KeptIndex:
            index = open_sqlite_index(tmp_path, tenant=tenant)
            opened.callback(index.close)
            return index

        yield open_for
