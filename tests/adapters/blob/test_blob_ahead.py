"""Reading ahead: the same bytes, in fewer requests for those who go in order."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from geomi.adapters.blob import s3
from geomi.adapters.blob.s3 import AHEAD_BYTES, MAX_SEGMENTS, ReadAhead
from tests.support.waiting import waits

FILE = random.Random(1).randbytes(3 * AHEAD_BYTES)


class Bucket:
    """Counts what is asked of it."""

    def __init__(self) -> None:
        self.asked: list[tuple[int, int]] = []

    async def range(self, _: str, start: int, length: int) -> bytes:
        self.asked.append((start, length))
        return FILE[start : start + length]


@waits
async def read(reader: ReadAhead, start: int, length: int, name: str = "a") -> bytes:
    return await reader.range(name, start, length)


@settings(deadline=None)  # megabytes are compared, and an event loop is started for each example
@given(st.lists(st.tuples(st.integers(0, len(FILE)), st.integers(1, 2 * AHEAD_BYTES)), max_size=9))
@waits
async def test_the_bytes_are_those_of_the_file(places: list[tuple[int, int]]) -> None:
    reader = ReadAhead(Bucket().range)
    assert ([await reader.range("a", start, length) for start, length in places]) == [
        FILE[start : start + length] for start, length in places
    ]


def test_a_reader_in_order_asks_seldom() -> None:
    bucket = Bucket()
    reader = ReadAhead(bucket.range)
    for start in range(0, len(FILE), 10_000):
        read(reader, start + 3000, 7000)
    assert len(bucket.asked) <= 5
    assert bucket.asked[0] == (3000, 7000)


def test_a_reader_who_jumps_is_given_what_it_asked_for() -> None:
    bucket = Bucket()
    reader = ReadAhead(bucket.range)
    places = [(2 * AHEAD_BYTES, 10), (0, 20), (2 * AHEAD_BYTES, 30)]
    for start, length in places:
        read(reader, start, length)
    assert bucket.asked == places


def test_readers_of_several_segments_do_not_disturb_one_another() -> None:
    bucket = Bucket()
    reader = ReadAhead(bucket.range)
    for start in range(0, 100_000, 10_000):
        for number in range(MAX_SEGMENTS):
            read(reader, start, 10_000, f"segment {number}")
    assert len(bucket.asked) == 2 * MAX_SEGMENTS


def test_memory_is_bounded() -> None:
    reader = ReadAhead(Bucket().range)
    for number in range(MAX_SEGMENTS + 1):
        read(reader, 0, AHEAD_BYTES + 1, f"segment {number}")
    kept = [len(window.data) for window in reader._windows.values()]
    assert kept == [s3.AHEAD_BYTES] * MAX_SEGMENTS
