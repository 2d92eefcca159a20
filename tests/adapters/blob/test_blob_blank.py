"""What stands in the place of an erased record: exactly as long, and read by everybody."""

from __future__ import annotations

import gzip
import io
import zlib
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from geomi.adapters.blob.warc import MAX_FIELD_BYTES, blank_file, blank_members
from geomi.errors import BytesMissing, StoreError
from geomi.model.page import Ref


@pytest.mark.parametrize(
    "length", [300, 1000, MAX_FIELD_BYTES, MAX_FIELD_BYTES + 180, MAX_FIELD_BYTES + 200, 1_000_000]
)
def test_it_is_as_long_as_what_was_there_and_is_whole_records(length: int) -> None:
    made = blank_members(length, erased_at_s=1_700_000_000.0)
    assert len(made) == length
    assert gzip.decompress(made).startswith(b"WARC/1.1\r\nWARC-Type: metadata\r\n")
    kinds = [record.rec_type for record in ArchiveIterator(io.BytesIO(made))]
    assert set(kinds) == {"metadata"}
    assert len(kinds) == 1 if length <= MAX_FIELD_BYTES else len(kinds) > 1


def test_every_length_around_two_members_can_be_made() -> None:
    for length in range(MAX_FIELD_BYTES - 50, MAX_FIELD_BYTES + 450):
        assert len(blank_members(length, erased_at_s=0.0)) == length


def test_what_is_too_short_is_refused() -> None:
    with pytest.raises(StoreError, match="too short for erasing"):
        blank_members(40, erased_at_s=0.0)


def test_only_the_places_are_written_over(tmp_path: Path) -> None:
    members = [gzip.compress(f"record {n} {'x' * n}".encode() * 99) + bytes(0) for n in range(3)]
    members[1] = zlib.compress(b"y" * 9, 0) + bytes(500)
    path = tmp_path / "segment"
    path.write_bytes(b"".join(members))
    place = Ref("segment", len(members[0]), len(members[1]))
    for _ in range(2):  # done twice it is the same
        blank_file(path, [place], erased_at_s=0.0)
    written = path.read_bytes()
    assert written.startswith(members[0]) and written.endswith(members[2])
    assert len(written) == sum(map(len, members)) and b"yyy" not in written
    with pytest.raises(BytesMissing, match="is missing"):
        blank_file(tmp_path / "gone", [place], erased_at_s=0.0)
