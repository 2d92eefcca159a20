"""How often a page changes, by what visits have found."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomi.model.config import Recrawl
from geomi.model.history import ChangePool, PageHistory, Stage, VisitEvidence
from geomi.recrawl.rate import (
    BURST_HALF_LIFE_S,
    Belief,
    Gap,
    believe,
    learn,
    pooled,
    stage,
)

DAY_S = 86_400.0
RULES = Recrawl()
NOBODY = ChangePool()


def belief_of(history: PageHistory, kin: ChangePool = NOBODY, host: ChangePool = NOBODY) -> Belief:
    return believe(history, kin, host, now_s=0.0, rules=RULES)


def watch(rate_per_day: float, gap_days: float, visits: int, seed: int = 1) -> PageHistory:
    """Visit a page that changes at random, at equal distances."""
    rng = random.Random(seed)
    history = PageHistory(0.0, visits=1)
    for number in range(visits):
        changed = rng.random() < -math.expm1(-rate_per_day * gap_days)
        gap = Gap(number * gap_days * DAY_S, (number + 1) * gap_days * DAY_S, changed)
        history, _ = learn(history, gap, belief_of(history))
    return history


@pytest.mark.req("CHG-06")
@pytest.mark.parametrize(
    ("visits", "expected"),
    [
        (0, Stage.SHARED),
        (1, Stage.SHARED),
        (2, Stage.RECORDED),
        (3, Stage.RECORDED),
        (4, Stage.ESTIMATED),
        (6, Stage.ESTIMATED),
        (7, Stage.OWN),
        (999, Stage.OWN),
    ],
)
def test_the_stages_of_learning(visits: int, expected: Stage) -> None:
    assert stage(PageHistory(visits=visits)) is expected


@pytest.mark.req("CHG-06")
@pytest.mark.parametrize("rate_per_day", [0.005, 0.02, 0.1, 0.5, 1.0])
def test_a_rate_is_found_from_visits_that_only_tell_whether_it_changed(
    rate_per_day: float,
) -> None:
    """As often as it is seen, not as often as it is found changed: that would be 1/gap at most."""
    found = belief_of(watch(rate_per_day, gap_days=1.5, visits=6000)).rate * DAY_S
    assert found == pytest.approx(rate_per_day, rel=0.25)


def test_what_is_found_at_one_visit_is_not_one_change() -> None:
    """Two visits out of three find a change: Cho and Garcia-Molina would say log(3), not 2/3."""
    history = PageHistory(0.0, visits=1)
    for number in range(900):
        gap = Gap(number * DAY_S, (number + 1) * DAY_S, number % 3 != 0)
        history, _ = learn(history, gap, belief_of(history))
    assert belief_of(history).rate * DAY_S == pytest.approx(math.log(3), rel=0.05)


def test_a_page_begins_with_the_rate_of_the_first_interval() -> None:
    rate = belief_of(PageHistory()).rate
    assert math.exp(-rate * RULES.first_interval_s) == pytest.approx(0.5)


@pytest.mark.req("CHG-06")
def test_a_page_with_little_history_borrows_from_its_kind() -> None:
    news = ChangePool(changes=50, watched_s=50 * DAY_S)
    archive = ChangePool(changes=1, watched_s=900 * DAY_S)
    new = PageHistory()
    assert belief_of(new, kin=news).rate > 5 * belief_of(new, kin=archive).rate
    # What has a pattern of its own is told by it, what has none by its host.
    assert belief_of(new, host=news).rate > belief_of(new).rate
    assert belief_of(new, kin=archive, host=news).rate < belief_of(new, host=news).rate


def test_a_page_with_much_history_is_told_by_it() -> None:
    quiet = watch(0.01, gap_days=10, visits=60)
    news = ChangePool(changes=50, watched_s=50 * DAY_S)
    assert belief_of(quiet, kin=news).rate < 2 * belief_of(quiet).rate


@pytest.mark.parametrize(
    ("modified_at_s", "watched_s"),
    [
        (900.0, 100.0),  # a change that is dated
        (None, 500.0),  # one that is not: half of a gap that is short against its rate
        (-5.0, 500.0),  # before the last visit: it was not this change
        (1005.0, 500.0),  # later than now
        (999.0, 500.0),  # made for this answer
    ],
)
def test_a_change_is_dated_by_the_pages_own_word(
    modified_at_s: float | None, watched_s: float
) -> None:
    gap = Gap(0.0, 1000.0, True, modified_at_s)
    history, evidence = learn(PageHistory(0.0, visits=1), gap, Belief(1.0, 1e9))
    assert history.watched_s == pytest.approx(watched_s, rel=0.01)
    assert evidence is not None and evidence.watched_s == history.watched_s
    assert history.changed_at_s == (900.0 if modified_at_s == 900.0 else 1000.0)


def test_a_visit_that_cannot_tell_adds_nothing() -> None:
    before = PageHistory(5.0, visits=3, changes=1, watched_s=77.0)
    for is_gone in (True, False):
        gap = Gap(5.0, 10.0, None, is_gone=is_gone)
        after, evidence = learn(before, gap, Belief(1.0, 1e5))
        assert evidence is None
        assert (after.visits, after.changes, after.watched_s) == (3, 1, 77.0)
        assert after.is_there is not is_gone


def test_a_page_that_is_back_is_there_though_nothing_can_be_told_of_it() -> None:
    belief = Belief(1.0, 1e5)
    missed, _ = learn(PageHistory(1.0, visits=1), Gap(1.0, 5.0, None, is_gone=True), belief)
    back, _ = learn(missed, Gap(1.0, 9.0, None), belief)
    assert (missed.is_there, back.is_there, back.returned_at_s) == (False, True, 9.0)
    assert (back.visited_at_s, back.visits, back.streak) == (9.0, 1, 0)


def test_gone_is_dated_once_and_ends_when_the_page_is_back() -> None:
    belief = Belief(1.0, 1e5)
    gone, _ = learn(PageHistory(0.0, visits=1), Gap(0.0, 10.0, True, is_gone=True), belief)
    still, _ = learn(gone, Gap(10.0, 20.0, False, is_gone=True), belief)
    back, _ = learn(still, Gap(20.0, 30.0, True), belief)
    assert (gone.gone_at_s, still.gone_at_s, back.gone_at_s) == (10.0, 10.0, None)
    assert (back.visits, back.changes) == (4, 2)
    assert (gone.left_at_s, still.left_at_s, still.is_there) == (10.0, 10.0, False)
    assert (back.left_at_s, back.returned_at_s, back.is_there) == (10.0, 30.0, True)


def test_out_of_reach_and_then_gone_is_one_absence() -> None:
    belief = Belief(1.0, 1e5)
    there, _ = learn(PageHistory(0.0, visits=1), Gap(0.0, 5.0, False), belief)
    missed, _ = learn(there, Gap(5.0, 10.0, None, is_gone=True), belief)
    gone, _ = learn(missed, Gap(5.0, 20.0, True, is_gone=True), belief)
    back, _ = learn(gone, Gap(20.0, 30.0, True), belief)
    again, _ = learn(back, Gap(30.0, 40.0, None, is_gone=True), belief)
    assert (there.left_at_s, missed.missed_at_s) == (None, 10.0)
    assert (missed.left_at_s, gone.left_at_s, again.left_at_s) == (10.0, 10.0, 40.0)
    assert (again.returned_at_s, again.is_there) == (30.0, False)


def test_a_burst_on_a_host_lets_its_other_pages_be_expected_to_change() -> None:
    host = NOBODY
    for _ in range(6):
        host = pooled(host, VisitEvidence(0.0, True, DAY_S, expected=0.1))
    quiet = believe(PageHistory(), NOBODY, host, now_s=20 * BURST_HALF_LIFE_S, rules=RULES)
    stirred = believe(PageHistory(), NOBODY, host, now_s=0.0, rules=RULES)
    assert stirred.rate > 2.5 * quiet.rate


def test_a_pool_adds_up_whatever_the_order_of_time() -> None:
    pool = pooled(NOBODY, VisitEvidence(100.0, True, 10.0, 0.5))
    pool = pooled(pool, VisitEvidence(50.0, False, 20.0, 0.25))
    assert (pool.changes, pool.watched_s, pool.at_s) == (1.0, 30.0, 100.0)
    assert (pool.found, pool.expected) == (1.0, 0.75)


finite = st.floats(0, 1e11, allow_nan=False)


@given(finite, finite, st.booleans(), st.floats(1e-3, 1e6), st.floats(1.0, 1e12))
def test_learning_keeps_everything_finite(
    from_s: float, to_s: float, changed: bool, shape: float, span_s: float
) -> None:
    gap = Gap(from_s, to_s, changed)
    history, evidence = learn(PageHistory(from_s, visits=1), gap, Belief(shape, span_s))
    assert 0 < history.watched_s <= gap.length_s * 1.001
    assert evidence is not None and 0 <= evidence.expected <= 1
    assert math.isfinite(belief_of(history).rate)
