"""One ranking out of several."""

from __future__ import annotations

import pytest

from geomi.search.fuse import fuse, places

EQUAL = {"words": 1.0, "vectors": 1.0}


def test_two_rankings() -> None:
    """Being found twice counts more than one first place."""
    scores = fuse({"words": ["a", "b", "c"], "vectors": ["b", "d"]}, EQUAL)
    assert list(scores) == ["b", "a", "d", "c"]
    assert scores["b"] == pytest.approx(1 / 12 + 1 / 11)


def test_a_ranking_may_count_for_less() -> None:
    """What only the weaker one has comes behind what the stronger one has."""
    rankings = {"words": ["a", "b", "c"], "vectors": ["d", "c", "b"]}
    assert list(fuse(rankings, EQUAL)) == ["b", "c", "a", "d"]
    assert list(fuse(rankings, {"words": 1.0, "vectors": 0.01})) == ["a", "b", "c", "d"]


def test_one_ranking_keeps_its_order() -> None:
    """Without vectors nothing changes."""
    assert list(fuse({"words": ["c", "a", "b", "a"], "vectors": []}, EQUAL)) == ["c", "a", "b"]
    assert fuse({}, EQUAL) == {}


def test_places() -> None:
    """A hit can say who found it."""
    found = {"words": ["a", "b"], "vectors": ["b"]}
    assert places(found, "b") == {"words": 2, "vectors": 1}
    assert places(found, "a") == {"words": 1}
