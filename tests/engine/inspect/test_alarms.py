"""Which figures of a job are an alarm."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from geomi.engine.inspect.alarms import (
    LEAST_REQUESTS,
    AlarmRule,
    JobFigures,
    Outcomes,
    judge,
    judge_job,
)
from geomi.model.config import CrawlConfig
from geomi.model.job import JobState
from geomi.model.verdict import Outcome, State
from tests.support.crawl import page
from tests.support.server import Reply, Route, Seen, Site
from tests.support.timed_crawl import hand_in
from tests.support.waiting import waits

DONE, FAILED, SKIPPED = State.COMPLETED, State.FAILED, State.SKIPPED
OK = (DONE, Outcome.OK, 200)
GONE = (FAILED, Outcome.GONE, 404)
SAME = (DONE, Outcome.NOT_MODIFIED, 304)
MOVED = (SKIPPED, Outcome.REDIRECTED, 301)
AWAY = (FAILED, Outcome.TIMEOUT, None)
EMPTY = (SKIPPED, Outcome.EMPTY, 200)
CALM = JobFigures({OK: 100}, requests=100, retries=0, active_s=60.0)


def rules(figures: JobFigures) -> set[AlarmRule]:
    """Return which rules are broken."""
    return {alarm.rule for alarm in judge(figures)}


@pytest.mark.parametrize(
    ("outcomes", "broken"),
    [
        ({OK: 90, GONE: 10}, set()),
        ({OK: 89, GONE: 11}, {AlarmRule.SUCCESS}),
        ({OK: 80, GONE: 20}, {AlarmRule.SUCCESS}),
        ({OK: 79, GONE: 21}, {AlarmRule.SUCCESS, AlarmRule.ERRORS}),
        ({OK: 89, AWAY: 11}, {AlarmRule.SUCCESS}),
        ({SAME: 90, OK: 5, GONE: 5}, set()),  # a weekly run of 304s is well (C-81)
        ({OK: 50, MOVED: 500}, set()),  # nor is a hop a failure
        ({OK: 90, EMPTY: 10}, set()),
        ({OK: 89, EMPTY: 11}, {AlarmRule.EMPTY}),
        ({GONE: LEAST_REQUESTS - 1}, set()),
        ({GONE: LEAST_REQUESTS}, {AlarmRule.SUCCESS, AlarmRule.ERRORS}),
        ({}, set()),
    ],
)
@pytest.mark.req("MON-01", "MON-04", "MON-05")
def test_shares(outcomes: Outcomes, broken: set[AlarmRule]) -> None:
    assert rules(replace(CALM, outcomes=outcomes)) == broken


@pytest.mark.req("MON-07")
def test_retries() -> None:
    assert rules(replace(CALM, retries=15)) == set()
    assert rules(replace(CALM, retries=16)) == {AlarmRule.RETRIES}


@pytest.mark.req("MON-03")
def test_slow_hosts_are_named() -> None:
    figures = replace(CALM, latencies={"a.test": 5.0, "b.test": 5.001})
    (alarm,) = judge(figures)
    assert (alarm.rule, alarm.subject) == (AlarmRule.LATENCY, "b.test")
    assert alarm.message == "b.test takes 5,001 ms to answer (limit 5,000)"


@pytest.mark.req("MON-06")
def test_three_hours() -> None:
    assert rules(replace(CALM, active_s=10_800.0)) == set()
    assert rules(replace(CALM, active_s=10_801.0)) == {AlarmRule.DURATION}


@pytest.mark.parametrize(
    ("before", "now", "is_over", "broken"),
    [
        (None, 0, True, False),
        (0, 9, True, False),
        (100, 51, True, False),
        (100, 50, True, True),
        (100, 150, True, True),
        (100, 10, False, False),  # it is still at it
    ],
)
@pytest.mark.req("MON-02")
def test_pages_against_the_last_run(
    before: int | None, now: int, is_over: bool, broken: bool
) -> None:
    figures = replace(CALM, indexed=now, indexed_before=before, is_over=is_over)
    assert rules(figures) == ({AlarmRule.INDEXED} if broken else set())


@waits
async def test_counters_that_are_not_what_a_recount_says(tmp_path: Path) -> None:
    async with hand_in(tmp_path) as hand:
        with Site({"/": page("start", "/a"), "/a": page("a")}) as site:
            job = await hand.crawl(CrawlConfig(), site.url("/"))
        over = replace(job, state=JobState.COMPLETED)
        assert (await judge_job(hand.world, over)).alarms == ()
        wrong = replace(over, stats=replace(job.stats, failed=3))
        (alarm,) = (await judge_job(hand.world, wrong)).alarms
        assert (alarm.rule, alarm.subject) == (AlarmRule.INVARIANT, "counters")
        assert alarm.message.startswith("failed is 3, a recount says 0; `geomi doctor --deep`")
        at_work = replace(wrong, state=JobState.PROCESSING)
        assert (await judge_job(hand.world, at_work)).alarms == (), "what moves is not counted"


@pytest.mark.req("MON-03", "MON-07")
@waits
async def test_a_crawl_of_a_slow_and_busy_site_is_judged(tmp_path: Path) -> None:
    """Every page takes six seconds, and answers the second time."""
    names = [f"/{number}" for number in range(LEAST_REQUESTS)]
    async with hand_in(tmp_path) as hand:
        seen: set[str] = set()

        def slow(asked: Seen) -> Reply:
            hand.clock.advance(6.0)
            is_busy = asked.path not in seen
            seen.add(asked.path)
            return Reply(status=503) if is_busy else page(asked.path)

        routes: dict[str, Route] = {"/": page("start", *names), **dict.fromkeys(names, slow)}
        with Site(routes) as site:
            job = await hand.crawl(CrawlConfig(), site.url("/"))
        found = (await judge_job(hand.world, job)).alarms
    assert [alarm.rule for alarm in found] == [AlarmRule.RETRIES, AlarmRule.LATENCY]
    retries, latency = found
    share = job.stats.retries / job.stats.requests
    assert (retries.value, retries.limit) == (round(share, 4), 0.15)
    assert latency.subject == f"127.0.0.1:{site.port}"
    assert latency.value == pytest.approx(6, abs=0.5)
