"""How likely a visit is to find something new."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomi.frontier.priority import FRESHNESS_HALF_LIFE_S, UNKNOWN_FRESHNESS, freshness

NOW_S = 1e9
DAY_S = 86_400.0
times = st.one_of(st.none(), st.floats(0, 2e9))


@pytest.mark.req("PRI-08")
def test_a_page_that_changes_often_is_fresher() -> None:
    fetched_at_s = NOW_S - DAY_S
    hourly = freshness(NOW_S, fetched_at_s=fetched_at_s, due_s=fetched_at_s + 3600)
    monthly = freshness(NOW_S, fetched_at_s=fetched_at_s, due_s=fetched_at_s + 30 * DAY_S)
    assert hourly > 0.99 and monthly < 0.04


@pytest.mark.parametrize(
    ("fetched_at_s", "due_s", "lastmod_s", "expected"),
    [
        (None, None, None, UNKNOWN_FRESHNESS),
        (None, None, NOW_S, 1.0),
        (None, None, NOW_S - FRESHNESS_HALF_LIFE_S, 0.5),
        (None, None, NOW_S + 1, UNKNOWN_FRESHNESS),  # a date in the future tells nothing
        (None, None, 0.0, 0.0),
        (NOW_S, NOW_S + DAY_S, None, 0.0),  # fetched just now
        (NOW_S - DAY_S, NOW_S, None, 1 - 1 / math.e),  # due now
        (NOW_S - DAY_S, NOW_S, NOW_S - 60, 1.0),  # changed since
        (NOW_S - DAY_S, NOW_S, NOW_S - 2 * DAY_S, 1 - 1 / math.e),
        (NOW_S - DAY_S, NOW_S - DAY_S, None, UNKNOWN_FRESHNESS),  # never planned
        (NOW_S + 5, NOW_S + 10, None, 0.0),  # a clock that was turned back
    ],
)
def test_freshness(
    fetched_at_s: float | None, due_s: float | None, lastmod_s: float | None, expected: float
) -> None:
    found = freshness(NOW_S, fetched_at_s=fetched_at_s, due_s=due_s, lastmod_s=lastmod_s)
    assert found == pytest.approx(expected, abs=1e-9)


@given(times, times, times)
def test_it_is_never_below_0_or_above_1(
    fetched_at_s: float | None, due_s: float | None, lastmod_s: float | None
) -> None:
    found = freshness(NOW_S, fetched_at_s=fetched_at_s, due_s=due_s, lastmod_s=lastmod_s)
    assert 0 <= found <= 1
