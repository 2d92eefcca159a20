"""pages.parquet: what a record says comes back, and memory is bounded."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from typing import Any

import orjson
import pytest

from geomi.adapters.outlet import parquet
from geomi.adapters.outlet.parquet import ParquetPages
from geomi.errors import ConfigError

read_parquet = pytest.importorskip("pyarrow.parquet", reason="the extra `parquet` is not installed")

PAGE: dict[str, Any] = {
    "url": "https://a.test/",
    "url_display": "https://a.test/",
    "final_url": "https://a.test/x",
    "status": 200,
    "fetched_at": "2026-01-02T03:04:05Z",
    "depth": 1,
    "parent": None,
    "source": "link",
    "title": "제목",
    "description": "",
    "language": "ko",
    "markdown": "# 제목\n",
    "links": [{"url": "https://a.test/y", "text": "y", "rel": "", "internal": True}],
    "content_hash": "aa",
    "simhash": "bb",
    "content_type": "text/html",
    "bytes": 3_000_000_000,
    "fetch_ms": 12,
    "metadata": {"author": "A", "signals": {"ai-train": "no", "tdm-reservation": 1, "noai": True}},
}


DUPLICATE = ("duplicate_of", "duplicate_reason", "similarity")


def written(*pages: dict[str, Any], group_bytes: int = parquet.GROUP_BYTES) -> Any:
    file = io.BytesIO()
    with ParquetPages(file, group_bytes=group_bytes) as rows:
        for page in pages:
            rows.add(orjson.dumps(page))
    return read_parquet.ParquetFile(io.BytesIO(file.getvalue()))


def test_a_record_comes_back_as_a_row() -> None:
    repeated = PAGE | {"links": [], "new": 1}
    repeated["metadata"] = dict(zip(DUPLICATE, ("https://a.test/", "near", 0.875), strict=True))
    first, second = written(PAGE, repeated).read().to_pylist()
    assert orjson.loads(first.pop("metadata")) == PAGE["metadata"]
    assert first.pop("signals") == [("ai-train", "no"), ("tdm-reservation", "1"), ("noai", "true")]
    assert first.pop("fetched_at") == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert [first.pop(name) for name in DUPLICATE] == [None, None, None]
    assert first == {name: value for name, value in PAGE.items() if name in first}
    assert set(PAGE) - set(first) == {"metadata", "fetched_at"}
    assert {name: second[name] for name in DUPLICATE} == repeated["metadata"]
    assert second["signals"] == []


def test_a_group_holds_so_many_bytes_and_no_more() -> None:
    size = len(orjson.dumps(PAGE))
    assert written(*[PAGE] * 4, group_bytes=2 * size).num_row_groups == 2
    assert written(*[PAGE] * 4, group_bytes=2 * size + 1).num_row_groups == 2
    assert written(*[PAGE] * 4, group_bytes=size + 1).num_row_groups == 2
    assert written(*[PAGE] * 4, group_bytes=size).num_row_groups == 4


def test_a_group_holds_so_many_rows_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "GROUP_ROWS", 2)
    assert written(*[PAGE] * 2).num_row_groups == 1
    assert written(*[PAGE] * 3).num_row_groups == 2


def test_no_pages_are_a_file_without_rows() -> None:
    found = written()
    assert found.metadata.num_rows == 0
    assert "markdown" in found.schema.names


def test_without_the_extra_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "find_spec", lambda _: None)
    with pytest.raises(ConfigError, match="pyarrow") as caught:
        ParquetPages(io.BytesIO())
    assert "geomi-crawler[parquet]" in caught.value.hint
