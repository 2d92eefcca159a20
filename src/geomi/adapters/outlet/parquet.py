"""`pages.parquet`: the records as columns, for whoever reads millions of them.

The file is written in row groups of bounded size, so that memory does not grow with a crawl. Its
footer comes last: it is made at once, never continued. It needs pyarrow, the extra `parquet`.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from importlib.util import find_spec
from types import TracebackType
from typing import Any, BinaryIO, Self

import orjson

from geomi.errors import ExtraMissing
from geomi.url.parse import display

# A row group lives three times while it is written, as JSON, as objects and as columns: 8 MiB of
# pages take 180 MiB at the peak, 60 of which are pyarrow itself, however many pages there are.
GROUP_ROWS = 5000
GROUP_BYTES = 8 * 1024 * 1024


def require() -> None:
    """Refuse, before anything is begun, where the extra is not installed."""
    if find_spec("pyarrow") is None:
        raise ExtraMissing("parquet needs pyarrow", extra="parquet")


class ParquetPages:
    """Takes records and writes them as rows of one file."""

    def __init__(self, file: BinaryIO, *, group_bytes: int = GROUP_BYTES) -> None:
        require()
        from pyarrow import parquet  # an extra, and slow to import

        self._schema = _schema()
        self._writer = parquet.ParquetWriter(file, self._schema, compression="zstd")
        self._group_bytes = group_bytes
        self._waiting: list[bytes] = []
        self._waiting_bytes = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self._write_group()
        self._writer.close()

    def add(self, record: bytes) -> None:
        """Take one page."""
        self._waiting.append(record)
        self._waiting_bytes += len(record)
        if len(self._waiting) >= GROUP_ROWS or self._waiting_bytes >= self._group_bytes:
            self._write_group()

    def _write_group(self) -> None:
        if self._waiting:
            self._writer.write_table(_table(self._waiting, self._schema))
        self._waiting, self._waiting_bytes = [], 0


def _table(records: Sequence[bytes], schema: Any) -> Any:
    import pyarrow  # an extra

    return pyarrow.Table.from_pylist([_row(orjson.loads(line)) for line in records], schema)


def _row(page: dict[str, Any]) -> dict[str, Any]:
    metadata = page["metadata"]
    signals = metadata.get("signals") or {}
    return page | {
        "url_display": display(page["url"]),  # a record of an older geomi has none
        "fetched_at": datetime.fromisoformat(page["fetched_at"]),
        "duplicate_of": metadata.get("duplicate_of"),
        "duplicate_reason": metadata.get("duplicate_reason"),
        "similarity": metadata.get("similarity"),
        "signals": [(name, _word(value)) for name, value in signals.items()],
        "metadata": orjson.dumps(metadata).decode(),
    }


def _word(signal: str | int) -> str:
    return signal if isinstance(signal, str) else orjson.dumps(signal).decode()


def _schema() -> Any:
    import pyarrow as pa  # an extra

    text = pa.string()
    link = pa.struct([("url", text), ("text", text), ("rel", text), ("internal", pa.bool_())])
    return pa.schema(
        [
            pa.field("url", text, nullable=False),
            pa.field("url_display", text, nullable=False),
            pa.field("final_url", text, nullable=False),
            pa.field("status", pa.int16(), nullable=False),
            pa.field("fetched_at", pa.timestamp("ms", tz="UTC"), nullable=False),
            pa.field("depth", pa.int32(), nullable=False),
            pa.field("parent", text),
            pa.field("source", text),
            pa.field("title", text),
            pa.field("description", text),
            pa.field("language", text),
            pa.field("markdown", text),
            pa.field("links", pa.list_(link)),
            pa.field("content_hash", text),
            pa.field("simhash", text),
            pa.field("content_type", text),
            pa.field("bytes", pa.int64()),
            pa.field("fetch_ms", pa.int64()),
            pa.field("duplicate_of", text),
            pa.field("duplicate_reason", text),
            pa.field("similarity", pa.float32()),
            pa.field("signals", pa.map_(text, text)),
            pa.field("metadata", text),
        ]
    )
