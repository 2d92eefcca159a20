"""Whether chunks are healthy."""

from __future__ import annotations

import pytest

from geomi.chunk.check import check, count_chunks, total
from geomi.chunk.split import split
from geomi.model.index.chunk import ChunkCounts

HEALTHY = ChunkCounts(pages=10, chunks=30, tokens=9_000, small=2, empty=1, duplicates=2)


def broken_rules(**changed: int) -> list[str]:
    """Return the rules that healthy counts break with some numbers changed."""
    values = {name: getattr(HEALTHY, name) for name in HEALTHY.__slots__} | changed
    return [finding.rule for finding in check(ChunkCounts(**values))]


@pytest.mark.req("CHK-03", "MON-09", "MON-10", "MON-11", "MON-13")
@pytest.mark.parametrize(
    ("changed", "rules"),
    [
        ({}, []),
        ({"tokens": 200 * 30}, []),
        ({"tokens": 200 * 30 - 1}, ["MON-09"]),
        ({"tokens": 500 * 30}, []),
        ({"tokens": 500 * 30 + 1}, ["MON-09"]),
        ({"empty": 2, "duplicates": 0, "chunks": 38}, []),
        ({"empty": 2, "duplicates": 0, "chunks": 37}, ["MON-10"]),
        ({"duplicates": 4, "empty": 0, "chunks": 36}, []),
        ({"duplicates": 4, "empty": 0, "chunks": 35}, ["MON-11"]),
        ({"small": 10}, []),
        ({"small": 11}, ["MON-12"]),
        ({"chunks": 200, "tokens": 60_000}, []),
        ({"chunks": 201, "tokens": 60_000}, ["MON-13"]),
        ({"chunks": 9, "tokens": 3_000, "empty": 0, "duplicates": 0}, ["MON-13"]),
        ({"pages": 0}, []),
    ],
)
def test_bands(changed: dict[str, int], rules: list[str]) -> None:
    """Each band ends where the catalogue says, and a finding names its rule."""
    assert broken_rules(**changed) == rules


def test_the_documentation_band_is_wider() -> None:
    """Its configuration allows a mean that none can reach (C-37)."""
    counts = ChunkCounts(pages=1, chunks=1, tokens=550)
    assert [finding.rule for finding in check(counts)] == ["MON-09"]
    assert check(counts, max_mean_tokens=600) == ()


def test_a_finding_says_what_to_do() -> None:
    """A number alone helps nobody."""
    (finding,) = check(ChunkCounts(pages=1, chunks=1, tokens=20))
    assert (finding.value, finding.least, finding.most) == (20, 200, 500)
    assert "selectors" in finding.advice


def test_pages_are_added_up() -> None:
    """A job's health is that of its pages together."""
    pages = [split("# A\n\none two three"), split("* * *"), split("")]
    assert total(map(count_chunks, pages)) == ChunkCounts(
        pages=3, chunks=1, tokens=6, small=1, empty=1
    )
