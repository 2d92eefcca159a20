"""What stands in the place of a record that was erased, so that all others stay where they are.

It is as long as what was there: whole gzip members, each a WARC `metadata` record without content,
with zeros in a field of the member's own header (RFC 1952 §2.3.1.1), which every reader passes
over.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

from geomi.adapters.disk import refusal
from geomi.errors import BytesMissing, StoreError
from geomi.model.page import Ref

MAX_FIELD_BYTES = 0xFFFF  # RFC 1952: of all fields together, the name and length of ours among them
FIELD_NAME = b"GM"

_EXTRA = 4  # the flag that says there are fields


def blank_file(path: Path, places: Sequence[Ref], *, erased_at_s: float) -> None:
    """Write over records of a segment, or of a copy of one, until the disk itself has it."""
    try:
        with path.open("r+b") as file:
            for place in places:
                file.seek(place.offset)
                file.write(blank(place.length, erased_at_s=erased_at_s))
            file.flush()
            os.fsync(file.fileno())
    except FileNotFoundError as error:
        raise BytesMissing(f"`{path}` is missing", hint="restore it from a backup") from error
    except OSError as error:
        raise refusal(error, path) from error


def blank(length: int, *, erased_at_s: float) -> bytes:
    """Build members of a length that hold nothing."""
    parts, left = list[bytes](), length
    while left:
        empty = _member(0, erased_at_s)
        most = len(empty) + MAX_FIELD_BYTES - len(FIELD_NAME) - 2
        if left < len(empty):
            raise StoreError(f"a record of {length} bytes is too short to be erased in its place")
        # What is left for the last one has to hold a whole member, too.
        size = left if left <= most else min(most, left - 2 * len(empty))
        parts.append(_member(size - len(empty), erased_at_s))
        left -= len(parts[-1])
    return b"".join(parts)


def _member(padding: int, at_s: float) -> bytes:
    date = datetime.fromtimestamp(at_s, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    record = (
        f"WARC/1.1\r\nWARC-Type: metadata\r\nWARC-Record-ID: <{uuid4().urn}>\r\n"
        f"WARC-Date: {date}\r\nContent-Length: 0\r\n\r\n\r\n\r\n"
    ).encode("ascii")
    field = FIELD_NAME + struct.pack("<H", padding) + bytes(padding)
    head = struct.pack("<BBBBIBBH", 0x1F, 0x8B, 8, _EXTRA, 0, 0, 255, len(field))
    # Stored as it is, so that a member's length does not depend on its id.
    stored = struct.pack("<BHH", 1, len(record), 0xFFFF ^ len(record)) + record
    return head + field + stored + struct.pack("<II", zlib.crc32(record), len(record))
