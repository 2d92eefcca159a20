"""When a page is due again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomi.model.config import Recrawl
from geomi.model.history import ChangePool, PageHistory
from geomi.recrawl.due import due_s, first_due_s
from geomi.recrawl.rate import Belief, Gap, believe, learn

DAY_S = 86_400.0
RULES = Recrawl()
WEEKLY = Recrawl(7 * DAY_S, 7 * DAY_S, 7 * DAY_S)  # profile docs
MONTHLY = Belief(1.0, 30 * DAY_S)


def interval_s(changed: list[bool], rules: Recrawl = RULES, depth: int = 1) -> float:
    """Visit a page whenever it is due, and return its last interval."""
    now_s = 1e9
    due = first_due_s(now_s, rules)
    history = PageHistory(now_s, visits=1)
    for one in changed:
        last_s, now_s = now_s, due
        belief = believe(history, ChangePool(), ChangePool(), now_s=now_s, rules=rules)
        history, _ = learn(history, Gap(last_s, now_s, one), belief)
        belief = believe(history, ChangePool(), ChangePool(), now_s=now_s, rules=rules)
        due = due_s(now_s, history, belief, rules, gap_s=now_s - last_s, depth=depth)
    return due - now_s


@pytest.mark.req("CHG-06", "C-38")
def test_all_pages_begin_with_one_interval() -> None:
    assert first_due_s(5000.0, RULES) == 5000.0 + 7 * DAY_S


@pytest.mark.req("CHG-07", "C-38")
def test_a_page_that_never_changes_ends_at_a_month() -> None:
    assert interval_s([False] * 5) == 30 * DAY_S


@pytest.mark.req("CHG-06", "C-38")
def test_a_page_that_always_changes_ends_at_an_hour() -> None:
    assert interval_s([True] * 12) == 3600.0


@pytest.mark.req("CHG-06")
def test_an_interval_grows_and_shrinks_with_what_visits_find() -> None:
    assert interval_s([True]) < 7 * DAY_S < interval_s([False])
    assert interval_s([True, True]) < interval_s([True])
    assert interval_s([False, True]) < interval_s([False, False])


@pytest.mark.req("CHG-05")
def test_important_pages_are_due_sooner() -> None:
    found = [interval_s([True, False], depth=depth) for depth in range(4)]
    assert found == sorted(found)
    assert found[0] < found[1]


@pytest.mark.req("C-38")
@pytest.mark.parametrize("changed", [[], [True] * 9, [False] * 9, [True, False]], ids=str)
def test_documentation_is_visited_weekly_whatever_it_does(changed: list[bool]) -> None:
    assert interval_s(changed, WEEKLY) == pytest.approx(7 * DAY_S)


@pytest.mark.parametrize(
    ("age_s", "expected_s"),
    [
        (None, 7 * DAY_S),
        (20 * DAY_S, 2 * DAY_S),
        (10.0, 3600.0),
        (0.0, 3600.0),
        (5000 * DAY_S, 30 * DAY_S),
        (-1.0, 7 * DAY_S),
    ],
)
def test_a_sitemaps_date_hints_at_the_first_interval_c82(
    age_s: float | None, expected_s: float
) -> None:
    now_s = 1e9
    lastmod_s = None if age_s is None else now_s - age_s
    found = first_due_s(now_s, RULES, lastmod_s=lastmod_s)
    assert found - now_s == pytest.approx(expected_s)


def test_a_page_that_is_gone_is_looked_after_at_the_longest_interval() -> None:
    history = PageHistory(50.0, visits=3, changes=2, streak=2, gone_at_s=50.0)
    found = due_s(50.0, history, MONTHLY, RULES, gap_s=10.0, depth=0)
    assert found == 50.0 + 30 * DAY_S


def test_a_page_out_of_reach_is_asked_for_at_the_first_interval() -> None:
    history = PageHistory(50.0, visits=3, missed_at_s=90.0)
    assert due_s(90.0, history, MONTHLY, RULES, gap_s=40.0, depth=0) == 90.0 + 7 * DAY_S


@given(
    st.lists(st.booleans(), max_size=30),
    st.integers(0, 1000),
)
def test_an_interval_stays_between_its_bounds(changed: list[bool], depth: int) -> None:
    assert 3599.9 <= interval_s(changed, depth=depth) <= 30 * DAY_S + 1
