"""Each check of an invariant, on values that just hold and on values that just do not."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import pytest

from geomi.engine.audit.invariants import (
    ROUNDING_S,
    SENTENCES,
    Invariant,
    Recount,
    answered_pages,
    asked_again,
    count_endings,
    crowded,
    damage,
    fenced,
    foreign,
    lost,
    miscounted,
    misread,
    too_close,
    ungated,
)
from geomi.model.job import CrawlStats
from geomi.model.page import Ref
from geomi.model.request_log import RequestPurpose
from geomi.model.verdict import Outcome, State
from tests.contracts.suites.material import asked

STATES = Counter({State.COMPLETED: 3, State.FAILED: 2, State.PENDING: 1})
STATS = CrawlStats(discovered=6, settled=5, collected=3, failed=2, duplicates=1, requests=7)
RECOUNT = Recount(STATES, 1, captures=3, urls=3, logged=7, settled=5, retries=0)


def test_every_invariant_has_a_sentence() -> None:
    assert list(SENTENCES) == list(Invariant)
    assert len(set(SENTENCES.values())) == len(Invariant)


def test_what_must_be_there() -> None:
    assert list(lost(["a", "b"], {"b", "a", "c"})) == []
    assert list(lost(["b", "a", "b"], {"c"})) == ["a", "b"]


@pytest.mark.parametrize(
    ("gap_s", "owed_s", "broken"),
    [
        (2.0, 2.0, None),
        (2.0 - ROUNDING_S / 2, 2.0, None),
        (2.0 - 2 * ROUNDING_S, 2.0, Invariant.GAP),
        (0.0, 0.0, None),
        (-ROUNDING_S / 2, 0.0, None),
        (-2 * ROUNDING_S, 0.0, Invariant.AT_ONCE),
        (-math.inf, 5.0, Invariant.AT_ONCE),
    ],
)
def test_two_requests_to_one_host(gap_s: float, owed_s: float, broken: Invariant | None) -> None:
    found = too_close(gap_s, owed_s)
    assert (found[0] if found else None) is broken


def test_what_is_asked_for_again() -> None:
    assert list(asked_again(3, 3)) == []
    (told,) = asked_again(4, 3)
    assert told == "pages asked for again: 4, lent when something failed: 3"


@pytest.mark.parametrize(
    ("stats", "counted", "told"),
    [
        (STATS, RECOUNT, []),
        (STATS, replace(RECOUNT, logged=9), []),  # a dead worker's rows are not counted
        (STATS, Recount(STATES, 1), []),  # what was not counted is not compared
        (replace(STATS, discovered=5), RECOUNT, ["discovered is 5, a recount says 6"]),
        (replace(STATS, blocked=1), RECOUNT, ["blocked is 1, a recount says 0"]),
        (replace(STATS, retries=2), RECOUNT, ["retries is 2, a recount says 0"]),
        (STATS, replace(RECOUNT, urls=2), ["collected is 3, a recount says 2"]),
        (STATS, replace(RECOUNT, logged=6), ["7 requests are counted, 6 are in the log"]),
    ],
)
def test_counters(stats: CrawlStats, counted: Recount, told: list[str]) -> None:
    assert list(miscounted(stats, counted)) == told


def test_whose_bytes_they_are() -> None:
    place = Ref("jobs/two/warc/s.warc.gz", 0, 1)
    assert list(foreign("it", place, {"one", "two"}, {})) == []
    (told,) = foreign("it", place, {"one"}, {"two": "b"})
    assert told == "it leads to bytes of job two, of tenant `b`"
    assert list(misread(["a"], ["a"])) == list(misread(["a", "old"], ["old", "b"])) == []
    assert list(misread(["a", "old"], ["b", "c"])) == ["the record of a is one of b"]


def test_the_gate_the_fence_and_an_address() -> None:
    assert list(ungated(asked(), is_allowed=True)) == []
    assert len(list(ungated(asked(), is_allowed=False))) == 1
    assert list(fenced(wrote=False, told_lost=True)) == []
    assert len(list(fenced(wrote=True, told_lost=False))) == 2
    assert list(crowded("192.0.2.1", 2, 2)) == []
    assert len(list(crowded("192.0.2.1", 3, 2))) == 1


def test_a_row_that_ends_after_now_cannot_be_true() -> None:
    row = asked()
    assert damage(row, now_s=row.ended_s) == ""
    assert damage(row, now_s=row.ended_s - 1) == "it ended after now"


def test_what_is_counted_of_the_log_and_of_entries() -> None:
    page = asked("/a")
    cut_off, erased = replace(page, status=0), replace(page, url="")
    of_robots = replace(page, purpose=RequestPurpose.ROBOTS)
    assert answered_pages([page, page, cut_off, erased, of_robots]) == {("job", page.url): 2}
    endings = {
        (State.COMPLETED, Outcome.OK, 200): 2,
        (State.COMPLETED, Outcome.DUPLICATE, 200): 1,
        (State.PENDING, None, None): 4,
    }
    counted = Recount({State.COMPLETED: 3, State.PENDING: 4}, 1, poisoned=0)
    assert count_endings(endings) == counted
