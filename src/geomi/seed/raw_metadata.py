"""What a partition of raw files says of itself (`raw_metadata.json`, G-25).

Nothing is decided by it: whoever dropped the files says what they meant to drop, and a check of the
dataset says where that is not what lies there.
"""

from __future__ import annotations

from dataclasses import dataclass

import orjson

from geomi.errors import FieldRefused, SeedError
from geomi.model.seed import ErrorType, Partition
from geomi.seed.partition import checked_partition

MAX_METADATA_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class RawMetadata:
    """The description of a partition."""

    partition: Partition
    file_count: int
    record_count: int
    created_at: str


def read_raw_metadata(data: bytes) -> RawMetadata:
    """Read the description of a partition; `SeedError` where it is none."""
    try:
        found = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise SeedError(f"it is no JSON: {error}", kind=ErrorType.PARSE) from None
    if not isinstance(found, dict):
        raise _wrong("it is no JSON object")
    country, category, date, created_at = (
        _text(found, name) for name in ("country", "category", "date", "created_at")
    )
    try:
        partition = checked_partition(country, category, date)
    except FieldRefused as refused:
        raise _wrong(refused.message) from refused
    return RawMetadata(
        partition, _count(found, "file_count"), _count(found, "record_count"), created_at
    )


def _text(found: dict[str, object], name: str) -> str:
    value = found.get(name)
    if not isinstance(value, str):
        raise _wrong(f"{name} is no text")
    return value


def _count(found: dict[str, object], name: str) -> int:
    value = found.get(name)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise _wrong(f"{name} is no count")
    return value


def _wrong(what: str) -> SeedError:
    return SeedError(what, kind=ErrorType.VALIDATION)
