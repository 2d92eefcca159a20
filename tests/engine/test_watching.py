"""When a crawl is visited again: when pages are due, within its budget, and not too often."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from geomi.engine import watching
from geomi.engine.recrawl import RecrawlRequest
from geomi.engine.watching import WatchPlan, look, next_visits, plan_run
from geomi.errors import ConfigError
from geomi.model.config import Recrawl
from geomi.model.job import CrawlJob, JobState
from tests.engine.test_recrawl import CONFIG, DAY_S, again, by_hand, routes
from tests.support.crawl import page, paths
from tests.support.timed_crawl import Hand
from tests.support.waiting import waits

HOUR_S = 3600.0


def budgeted(requests: int) -> Recrawl:
    """Return rules by which all pages are due within hours."""
    return Recrawl(4 * HOUR_S, HOUR_S, 4 * HOUR_S, requests_per_day=requests)


async def run_now(hand: Hand, plan: WatchPlan | None) -> CrawlJob:
    """Let a plan's time come, and its run be done."""
    assert plan is not None and plan.at_s is not None
    hand.clock.advance(max(0.0, plan.at_s - hand.world.clock.wall_s()))
    crawl = await hand.job(plan.crawl)
    due = await look(hand.world, crawl)
    assert due is not None and due.at_s is not None and due.at_s <= hand.world.clock.wall_s()
    job, _ = await again(hand, crawl, watching.wish_of(due.left))
    return job


@pytest.mark.req("CHG-04", "CHG-05")
@waits
async def test_the_next_run_begins_when_the_first_page_is_due(tmp_path: Path) -> None:
    async with by_hand(tmp_path) as (hand, site, crawl):
        plan = await plan_run(hand.world, crawl)
        first = min([visit.at_s for visit in await next_visits(hand.world, plan, limit=9)])
        assert plan.at_s == first == pytest.approx(hand.world.clock.wall_s() + 7 * DAY_S, abs=60)
        assert await look(hand.world, crawl) is None
        assert (await hand.job(crawl)).next_look_s == plan.at_s
        hand.clock.advance(7 * DAY_S)
        routes(site)["/a"] = page("a", "/", text="another text, twice as good")
        job = await run_now(hand, await plan_run(hand.world, crawl))
        assert job.stats.settled == len(paths(site.log)) == 4
        later = await plan_run(hand.world, crawl)
        visits = await next_visits(hand.world, later, limit=2)
        # What has changed is due before the rest, and half of all is asked for.
        assert visits[0].page.url == site.url("/a") and len(visits) == 2
        assert later.at_s == visits[0].at_s and later.due == 1


@pytest.mark.req("CHG-04")
@waits
async def test_a_day_has_no_more_requests_than_the_budget(tmp_path: Path) -> None:
    async with by_hand(tmp_path, replace(CONFIG, recrawl=budgeted(7))) as (hand, site, crawl):
        first = await run_now(hand, await plan_run(hand.world, crawl))
        assert first.stats.requests == 5  # robots.txt, too
        plan = await plan_run(hand.world, crawl)
        assert plan.at_s is not None and plan.left == 2
        second = await run_now(hand, plan)
        assert (second.stats.settled, second.stats.requests) == (1, 2)
        plan = await plan_run(hand.world, crawl)
        # The first run has to be a day old, and its requests are there again then.
        assert plan.at_s is not None and plan.at_s == first.created_at_s + DAY_S
        assert (plan.left, plan.due) == (5, 4)
        wide = await plan_run(hand.world, crawl, budget=9)
        assert wide.at_s is not None and wide.at_s < plan.at_s and wide.left == 2
        site.log.clear()
        await run_now(hand, plan)
        assert len([path for path in paths(site.log) if path != "/robots.txt"]) == 4


@waits
async def test_two_runs_are_as_far_apart_as_two_visits_of_a_page(tmp_path: Path) -> None:
    rules = replace(budgeted(1000), min_interval_s=3 * HOUR_S)
    async with by_hand(tmp_path, replace(CONFIG, recrawl=rules)) as (hand, _, crawl):
        hand.clock.advance(4 * HOUR_S)
        job = (await again(hand, crawl, RecrawlRequest(budget=1)))[0]
        plan = await plan_run(hand.world, crawl)  # three pages are due by now
        assert plan.at_s == job.created_at_s + 3 * HOUR_S and plan.due == 3


@waits
async def test_a_crawl_rests_after_a_failure_and_where_another_took_its_place(
    tmp_path: Path,
) -> None:
    async with by_hand(tmp_path) as (hand, _, crawl):
        await watching.put_off(hand.world, crawl, ConfigError("the network is another"))
        found = await hand.job(crawl)
        now_s = hand.world.clock.wall_s()
        assert (found.next_look_s, found.watch_note) == (now_s + 600, "the network is another")
        newer = replace(crawl, id="newer", state=JobState.COMPLETED, created_at_s=now_s)
        await hand.store.jobs.create(newer)
        hand.clock.advance(8 * DAY_S)
        assert await look(hand.world, crawl) is None
        found = await hand.job(crawl)
        assert found.next_look_s is None and "crawl newer has" in found.watch_note
