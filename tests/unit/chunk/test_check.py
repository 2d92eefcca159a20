"""Whether chunks are healthy."""

from __future__ import annotations

from dataclasses import replace

import pytest

from geomi.chunk.check import check, describe_band, describe_value, is_telling
from geomi.model.index.chunk import ChunkCounts

HEALTHY = ChunkCounts(pages=10, chunks=30, tokens=9_000, empty=1, repeated=2, smallest=60)


def unhealthy(**changed: int) -> list[str]:
    """Return the measures that lie outside their bands with some numbers changed."""
    return [one.measure for one in check(replace(HEALTHY, **changed)) if not one.is_healthy]


@pytest.mark.parametrize(
    ("changed", "measures"),
    [
        ({}, []),
        ({"tokens": 200 * 30}, []),
        ({"tokens": 200 * 30 - 1}, ["mean_chunk_tokens"]),
        ({"tokens": 600 * 30}, []),
        ({"tokens": 600 * 30 + 1}, ["mean_chunk_tokens"]),
        ({"empty": 2, "repeated": 0, "chunks": 38}, []),
        ({"empty": 2, "repeated": 0, "chunks": 37}, ["empty_chunks"]),
        ({"repeated": 3, "copies": 1, "empty": 0, "chunks": 37}, []),
        ({"repeated": 3, "copies": 1, "empty": 0, "chunks": 36}, ["repeated_chunks"]),
        ({"smallest": 50}, []),
        ({"smallest": 49}, ["smallest_chunk"]),
        ({"chunks": 200, "tokens": 60_000}, []),
        ({"chunks": 201, "tokens": 60_300}, ["chunks_per_page"]),
        ({"chunks": 9, "tokens": 3_000, "empty": 0, "repeated": 0}, ["chunks_per_page"]),
        ({"pages": 0}, []),
    ],
)
def test_bands(changed: dict[str, int], measures: list[str]) -> None:
    """Each band ends where the catalogue says."""
    assert unhealthy(**changed) == measures


def test_pages_of_one_chunk_have_no_smallest() -> None:
    """Nothing could have been merged: there is nothing to judge."""
    *_, smallest, _ = check(replace(HEALTHY, smallest=None))
    assert smallest.is_healthy
    assert (describe_value(smallest), describe_band(smallest)) == ("-", "≥ 50")


def test_twenty_parts_are_judged() -> None:
    """Dropped parts count as well as kept ones."""
    assert is_telling(ChunkCounts(pages=1, chunks=17, empty=2, repeated=1))
    assert not is_telling(ChunkCounts(pages=1, chunks=16, empty=2, repeated=1))
