"""What a partition of raw files says of itself (`raw_metadata.json`, G-25).

Nothing is decided by it: whoever dropped the files says what they meant to drop, and a check of the
dataset says where that is not what lies there.
"""

from __future__ import annotations

from dataclasses import dataclass

from geomi.model.seed import Partition
from geomi.seed.fields import count, partition, read_object, text

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
    found = read_object(data)
    return RawMetadata(
        partition(found),
        count(found, "file_count"),
        count(found, "record_count"),
        text(found, "created_at"),
    )
