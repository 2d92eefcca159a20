"""How soon a URL is taken."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomi.frontier.priority import HIGHEST, LOWEST, priority, score
from geomi.model.entry import Source
from geomi.model.order import Order


@pytest.mark.req("PRI-01")
@pytest.mark.parametrize(
    ("depth", "source", "boosted", "expected"),
    [
        (0, Source.SEED, False, 150),
        (0, Source.SEED, True, 180),
        (0, Source.SITEMAP, False, 120),
        (1, Source.LINK, False, 90),
        (3, Source.LINK, True, 100),
        (10, Source.LINK, False, 0),
        (11, Source.LINK, False, 0),
        (1000, Source.SEED, True, 0),
    ],
)
def test_score(depth: int, source: Source, boosted: bool, expected: int) -> None:
    assert score(depth, source, boosted=boosted) == expected


@pytest.mark.req("FRN-03")
@given(st.integers(0, 1000), st.sampled_from(Source), st.booleans())
def test_deeper_is_never_sooner(depth: int, source: Source, boosted: bool) -> None:
    here = score(depth, source, boosted=boosted)
    assert LOWEST <= score(depth + 1, source, boosted=boosted) <= here <= HIGHEST


@pytest.mark.req("FRN-02", "FRN-03", "LNK-01")
@given(st.integers(0, 1000), st.sampled_from(Source), st.booleans())
def test_in_breadth_only_the_depth_counts(depth: int, source: Source, boosted: bool) -> None:
    here = priority(Order.BFS, depth, source, boosted=boosted)
    assert here == priority(Order.BFS, depth, Source.LINK, boosted=False)
    assert here > priority(Order.BFS, depth + 1, Source.SEED, boosted=True) or here == LOWEST
    assert LOWEST <= here <= HIGHEST


@given(st.integers(0, 1000), st.sampled_from(Source), st.booleans())
def test_by_score_the_score_counts(depth: int, source: Source, boosted: bool) -> None:
    expected = score(depth, source, boosted=boosted)
    assert priority(Order.SCORE, depth, source, boosted=boosted) == expected
