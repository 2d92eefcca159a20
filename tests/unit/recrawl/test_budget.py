"""Where a number of requests buys the most freshness."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomi.model.config import Recrawl
from geomi.model.history import PageHistory, RevisitPage
from geomi.recrawl.due import RevisitCandidate, consider, gain_s, page_weight, spend
from geomi.recrawl.rate import Belief

DAY_S = 86_400.0
RULES = Recrawl()
NOW_S = 1e9


def known(rate_per_day: float) -> Belief:
    """A rate that is known for sure."""
    return Belief(1e7, 1e7 * DAY_S / rate_per_day)


def page(name: str = "a", *, days: float = 10.0, depth: int = 1) -> RevisitPage:
    key = name.encode().ljust(16, b"\0")
    fetched_s = NOW_S - days * DAY_S
    history = PageHistory(fetched_s, visits=2)
    return RevisitPage(key, f"http://a.test/{name}", "a.test:80", depth, fetched_s, NOW_S, history)


def chosen(page: RevisitPage, belief: Belief) -> RevisitCandidate | None:
    return consider(page, belief, now_s=NOW_S, rules=RULES)


@pytest.mark.parametrize("rate_per_day", [0.01, 0.1, 1.0, 20.0])
@pytest.mark.parametrize("days", [0.1, 3.0, 30.0, 300.0])
def test_the_gain_of_a_known_rate(rate_per_day: float, days: float) -> None:
    likely = rate_per_day * days
    exact_days = (1 - (1 + likely) * math.exp(-likely)) / rate_per_day
    assert gain_s(known(rate_per_day), days * DAY_S) == pytest.approx(
        exact_days * DAY_S, rel=1e-3, abs=1
    )


@pytest.mark.req("CHG-05")
def test_not_the_page_that_changes_most_but_the_one_where_a_visit_lasts() -> None:
    hourly, weekly, never = known(24.0), known(1 / 7), known(1e-4)
    gains = [gain_s(one, 7 * DAY_S) for one in (hourly, weekly, never)]
    assert gains[1] == max(gains)


@pytest.mark.req("CHG-05")
def test_equal_gains_are_the_best_intervals() -> None:
    """Visiting where the gain is highest keeps two pages fresher than any other division."""
    rates = (1 / 20, 1 / 3)

    def fresh(intervals: tuple[float, float]) -> float:
        return sum(-math.expm1(-r * t) / (r * t) for r, t in zip(rates, intervals, strict=True))

    # One visit a day for both: find the intervals that greedy choice settles on.
    since = [0.0, 0.0]
    visits = [0, 0]
    for _ in range(4000):
        since = [one + 0.5 for one in since]
        gains = [gain_s(known(r), s * DAY_S) for r, s in zip(rates, since, strict=True)]
        best = gains.index(max(gains))
        since[best], visits[best] = 0.0, visits[best] + 1
    found = fresh((2000 / visits[0], 2000 / visits[1]))
    others = [fresh((1 / share / 2, 1 / (1 - share) / 2)) for share in (0.1, 0.3, 0.5, 0.7, 0.9)]
    assert found >= max(others) - 0.002


@pytest.mark.req("CHG-05")
def test_important_pages_come_first() -> None:
    pages = [page(str(depth), depth=depth) for depth in (3, 0, 2, 1)]
    candidates = [one for one in (chosen(p, known(0.1)) for p in pages) if one is not None]
    assert [one.page.depth for one in spend(candidates, 4)] == [0, 1, 2, 3]
    assert page_weight(0) == 1.0


def test_a_budget_is_kept_and_spent_on_the_best() -> None:
    pages = [page(str(days), days=days) for days in (1, 9, 3, 7, 5)]
    candidates = [one for one in (chosen(p, known(0.1)) for p in pages) if one is not None]
    assert [one.page.url[-1] for one in spend(candidates, 3)] == ["9", "7", "5"]
    assert spend(candidates, 0) == []
    assert len(spend(candidates, 99)) == 5


def test_a_page_that_is_gone_counts_little_and_one_out_of_reach_waits_until_due() -> None:
    there = page()
    gone = replace(there, history=replace(there.history, gone_at_s=5.0))
    full, little = chosen(there, known(0.1)), chosen(gone, known(0.1))
    assert full is not None and little is not None
    assert little.gain_s == pytest.approx(full.gain_s / 20)
    missed = replace(there, history=replace(there.history, missed_at_s=NOW_S - 5))
    assert chosen(missed, known(0.1)) is not None
    assert chosen(replace(missed, due_s=NOW_S + 1), known(0.1)) is None


def test_no_page_is_visited_sooner_than_the_shortest_interval() -> None:
    assert chosen(page(days=3599 / DAY_S), known(9.0)) is None
    assert chosen(page(days=3601 / DAY_S), known(9.0)) is not None


@given(st.floats(1.0, 1e6), st.floats(1.0, 1e10), st.floats(1.0, 1e9), st.floats(1.0, 1e8))
def test_a_gain_is_never_negative_and_grows_with_time(
    shape: float, span_s: float, since_s: float, more_s: float
) -> None:
    belief = Belief(shape, span_s)
    first, later = gain_s(belief, since_s), gain_s(belief, since_s + more_s)
    slack = 1e-6 * (1 + abs(first) + span_s)
    assert first >= -slack
    assert later >= first - slack
