"""Directives of one page."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomi.robots.meta import MAX_VALUE_CHARS, MAX_VALUES, RESERVATIONS, directives

BOTH = {"noindex", "nofollow"}


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([], set()),
        (["index, follow"], set()),
        (["NoIndex"], {"noindex"}),
        (["noindex,nofollow"], BOTH),
        (["none"], BOTH),
        (["noindex", "nofollow"], BOTH),
        (["geomi: noindex"], {"noindex"}),
        (["Geomi: none"], BOTH),
        (["otherbot: noindex"], set()),
        (["otherbot: noindex, nofollow"], set()),
        (["otherbot: noindex, geomi: nofollow"], {"nofollow"}),
        (["noindex, otherbot: nofollow"], {"noindex"}),
        (["robots: noindex"], {"noindex"}),
        (["*: noindex"], {"noindex"}),
        (["unavailable_after: 25 Jun 2030 15:00:00 PST, noindex"], {"noindex"}),
        (["max-snippet:-1, max-image-preview:large, nofollow"], {"nofollow"}),
        (["noindexing"], set()),
        (["noai, noimageai"], {"noai", "noimageai"}),
        (["NoML", "noarchive"], {"noml", "noarchive"}),
        (["otherbot: noai"], set()),
        (["otherbot: noai, geomi: noai, nosnippet"], {"noai", "nosnippet"}),
    ],
)
def test_directives(values: list[str], expected: set[str]) -> None:
    assert directives(values, "geomi") == expected


@pytest.mark.parametrize("extra", [0, 1])
def test_limits(extra: int) -> None:
    values = ["all"] * (MAX_VALUES - 1 + extra) + ["noindex"]
    assert bool(directives(values, "geomi")) is not bool(extra)
    long = "x," * ((MAX_VALUE_CHARS - 8) // 2) + " " * extra + ",noindex"
    assert bool(directives([long], "geomi")) is not bool(extra)


@given(st.lists(st.text(max_size=30), max_size=5), st.text(max_size=5))
def test_anything_can_be_read(values: list[str], token: str) -> None:
    assert directives(values, token) <= BOTH | RESERVATIONS
