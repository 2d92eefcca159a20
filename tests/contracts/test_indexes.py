"""The indexes that have to keep the contract."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path

import pytest

from geomi.adapters.bucket_url import read_bucket_url
from geomi.adapters.index.lance import open_lance_index
from geomi.adapters.index.sqlite import open_sqlite_index
from geomi.ports.index import KeptIndex
from tests.conftest import missing_part
from tests.contracts.suites.documents import Indexes
from tests.contracts.suites.forgetting import TestDeletes, TestPreviews
from tests.contracts.suites.indexing import TestFilters, TestWords
from tests.contracts.suites.vectors import TestVectors
from tests.support.s3 import S3Server

__all__ = ["TestDeletes", "TestFilters", "TestPreviews", "TestVectors", "TestWords"]


@pytest.fixture(
    params=[
        "sqlite",
        pytest.param("lance", marks=pytest.mark.slow),
        pytest.param("lance-s3", marks=pytest.mark.slow),
    ]
)
def indexes(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Indexes]:
    """Open one index, for as many tenants as a test asks for."""
    if request.param != "sqlite" and find_spec("lancedb") is None:
        missing_part("no lancedb: pip install '.[lance]'")
    with ExitStack() as opened:

        def keeping(open_for: Indexes) -> Indexes:
            def open_and_close(tenant: str) -> KeptIndex:
                index = open_for(tenant)
                opened.callback(index.close)
                return index

            return open_and_close

        match request.param:
            case "sqlite":
                yield keeping(lambda tenant: open_sqlite_index(tmp_path, tenant=tenant))
            case "lance":
                yield keeping(lambda tenant: open_lance_index(tmp_path, tenant=tenant))
            case "lance-s3":
                server: S3Server = request.getfixturevalue("s3")
                bucket = read_bucket_url(server.new_prefix())
                yield keeping(lambda tenant: open_lance_index(bucket, tenant=tenant))
