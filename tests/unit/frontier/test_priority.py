"""How soon a URL is taken."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomi.frontier.priority import (
    HIGHEST,
    LOWEST,
    WHOLE,
    merit,
    priority,
    score,
    shares,
)
from geomi.model.config import Preset, UrlOrder, Weights
from geomi.model.entry import Source


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
    here = priority(UrlOrder.BFS, depth, source, boosted=boosted)
    assert here == priority(UrlOrder.BFS, depth, Source.LINK, boosted=False)
    assert here > priority(UrlOrder.BFS, depth + 1, Source.SEED, boosted=True) or here == LOWEST
    assert LOWEST <= here <= HIGHEST


@given(st.integers(0, 1000), st.sampled_from(Source), st.booleans())
def test_by_score_the_score_counts(depth: int, source: Source, boosted: bool) -> None:
    expected = score(depth, source, boosted=boosted)
    assert priority(UrlOrder.SCORE, depth, source, boosted=boosted) == expected


@pytest.mark.req("PRI-03", "G-05")
@pytest.mark.parametrize(
    ("preset", "expected"),
    [
        (Preset.NEWS, (0.2, 0.2, 0.6)),
        (Preset.ACADEMIC, (0.6, 0.1, 0.3)),
        (Preset.SHOP, (0.2, 0.6, 0.2)),
        (Preset.BALANCED, (1 / 3, 1 / 3, 1 / 3)),
    ],
)
def test_presets(preset: Preset, expected: tuple[float, float, float]) -> None:
    assert shares(Weights(preset)) == pytest.approx(expected)


@pytest.mark.req("PRI-02")
@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        (Weights(importance=1, traffic=1, freshness=0), (0.5, 0.5, 0)),
        (Weights(Preset.NEWS, importance=0.7), (0.7 / 1.5, 0.2 / 1.5, 0.6 / 1.5)),
        (Weights(importance=0, traffic=0, freshness=0), (0, 0, 0)),
    ],
    ids=["own", "one-of-its-own", "none"],
)
def test_weights_together_are_one(weights: Weights, expected: tuple[float, float, float]) -> None:
    assert shares(weights) == pytest.approx(expected)


@pytest.mark.req("PRI-02", "PRI-03", "PRI-07")
def test_for_a_shop_traffic_outweighs_what_is_fresh_and_for_news_it_does_not() -> None:
    def better(preset: Preset) -> bool:
        busy = merit(Weights(preset), traffic=1, freshness=0)
        return busy > merit(Weights(preset), traffic=0, freshness=1)

    assert better(Preset.SHOP) and not better(Preset.NEWS)


@given(st.floats(0, 1), st.floats(0, 1), st.sampled_from(Preset))
def test_merit_and_importance_are_never_above_a_whole(
    traffic: float, freshness: float, preset: Preset
) -> None:
    weights = Weights(preset)
    found = merit(weights, traffic=traffic, freshness=freshness)
    assert 0 <= found <= found + round(WHOLE * shares(weights)[0]) <= WHOLE + 1


def test_in_the_weighted_order_a_find_is_worth_what_is_added_to_it() -> None:
    assert priority(UrlOrder.WEIGHTED, 0, Source.SEED, boosted=True) == LOWEST
