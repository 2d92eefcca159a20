"""Freshness on real change traces has a floor that may rise, not fall."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.freshness import TRACES, Ours, Trace, read, replay, staleness, uniform
from tests.conftest import corpus_file

DAY_S = 86_400.0


@pytest.fixture(scope="module")
def traces(corpus: Path) -> list[Trace]:
    return read(corpus_file(corpus, str(TRACES)))


@pytest.mark.slow
@pytest.mark.req("CHG-05", "CHG-06")
def test_pages_are_staler_under_a_uniform_schedule(traces: list[Trace]) -> None:
    ours = staleness(traces, replay(traces, Ours(traces)))
    assert 1 - ours / uniform(traces) >= 0.38  # 0.43, which the phase of days moves by 0.02


def test_staleness_is_the_share_of_judged_time_that_a_copy_is_out_of_date() -> None:
    trace = Trace("s", "https://s/", (0.0, 75.0, 90.0), (False, False, True), 100.0)
    assert trace.judged_s == 70.0
    assert trace.stale_s([0.0]) == 25.0
    assert trace.stale_s([0.0, 80.0]) == 5.0 + 10.0
    assert trace.stale_s([0.0, 75.0, 95.0]) == 5.0
    assert staleness([trace], [[0.0, 75.0, 90.0]]) == 0.0


def test_a_budget_is_one_visit_a_page_and_month() -> None:
    traces = [Trace("s", f"https://s/{n}", (n * DAY_S,), (False,), 3000 * DAY_S) for n in range(6)]
    paid = sum(len(visits) - 1 for visits in replay(traces, Ours(traces)))
    assert paid == pytest.approx(6 * 100, rel=0.01)
