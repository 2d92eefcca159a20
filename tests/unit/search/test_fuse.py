"""One ranking out of several."""

from __future__ import annotations

import pytest

from geomi.search.fuse import fuse, places


def test_two_rankings() -> None:
    """Being found twice counts more than one first place."""
    scores = fuse([["a", "b", "c"], ["b", "d"]])
    assert list(scores) == ["b", "a", "d", "c"]
    assert scores["b"] == pytest.approx(1 / 62 + 1 / 61)


def test_one_ranking_keeps_its_order() -> None:
    """Without vectors nothing changes."""
    assert list(fuse([["c", "a", "b", "a"], []])) == ["c", "a", "b"]
    assert fuse([]) == {}


def test_places() -> None:
    """A hit can say who found it."""
    found = {"words": ["a", "b"], "vectors": ["b"]}
    assert places(found, "b") == {"words": 2, "vectors": 1}
    assert places(found, "a") == {"words": 1}
