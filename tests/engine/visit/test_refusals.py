"""What is not asked for when its turn comes: a site said no before, or a rule does now."""

from __future__ import annotations

from pathlib import Path

import pytest

from geomi.model.config import CrawlConfig, Limits, Politeness
from geomi.model.verdict import Outcome, State
from tests.support.crawl import crawl_site, page, paths, profile_config, robots, to
from tests.support.server import Reply, Route, Site
from tests.support.timed_crawl import hand_in
from tests.support.waiting import waits

CONFIG = CrawlConfig(politeness=Politeness(delay_s=1.0), limits=Limits(max_pages=0))
DAY_S = 86_400.0
ROUTES = {"/": page("home", "/no", "/yes"), "/no": Reply(status=403), "/yes": page("yes")}


@pytest.mark.req("ERR-04")
@pytest.mark.parametrize(
    ("profile", "days", "later_days", "is_asked"),
    [("default", 30, 29, False), ("default", 30, 31, True), ("docs", 0, 3000, False)],
    ids=["before", "after", "for good"],
)
@waits
async def test_a_403_is_left_alone_until_its_time_c91(
    tmp_path: Path, profile: str, days: float, later_days: float, is_asked: bool
) -> None:
    """It is written down with its reason and its date, and not asked for by any later job."""
    config = profile_config(profile)

    with Site(ROUTES) as site:
        async with hand_in(tmp_path) as hand:
            first = await hand.crawl(config, site.url("/"))
            (refusal,) = await hand.world.store.refusals.list(after=b"", limit=10)
            at_s = hand.clock.wall_s()
            hand.clock.advance(later_days * DAY_S)
            second = await hand.crawl(config, site.url("/"))
            entry = (await hand.entries(second))["/no"]
            asked = len(hand.asked("/no"))
    assert (refusal.url, refusal.status) == (site.url("/no"), 403)
    assert refusal.reason == "HTTP 403"
    assert at_s - 60 <= refusal.since_s <= at_s
    assert refusal.until_s == (refusal.since_s + days * DAY_S if days else None)
    assert asked == (2 if is_asked else 1)
    assert (first.stats.settled, first.stats.failed, first.stats.blocked) == (3, 1, 0)
    ended = (entry.state, entry.outcome, entry.status)
    counted = (second.stats.settled, second.stats.failed, second.stats.blocked)
    if is_asked:
        assert ended == (State.FAILED, Outcome.REFUSED, 403)
        assert counted == (3, 1, 0)
    else:
        assert ended == (State.BLOCKED, Outcome.LEFT_ALONE, None)
        assert counted == (2, 0, 1)
        assert entry.detail.startswith("HTTP 403 on 1970-01-12; left alone ")
        assert entry.detail.endswith("until 1970-02-11" if days else "for good")


@pytest.mark.parametrize("status", [401, 407, 451])
@waits
async def test_others_refuse_for_this_job_alone_g01(tmp_path: Path, status: int) -> None:
    """401, 407 and 451 are no reason to stay away for ever."""
    with Site({**ROUTES, "/no": Reply(status=status)}) as site:
        async with hand_in(tmp_path) as hand:
            for _ in range(2):
                job = await hand.crawl(CONFIG, site.url("/"))
                entry = (await hand.entries(job))["/no"]
                assert (entry.outcome, entry.attempts) == (Outcome.REFUSED, 1)
            assert await hand.world.store.refusals.list(after=b"", limit=10) == []
            assert len(hand.asked("/no")) == 2


@waits
async def test_a_refusal_that_is_lifted_is_asked_again(tmp_path: Path) -> None:
    """What an administrator forgets is forgotten."""
    with Site(ROUTES) as site:
        async with hand_in(tmp_path) as hand:
            await hand.crawl(profile_config("docs"), site.url("/"))
            (refusal,) = await hand.world.store.refusals.list(after=b"", limit=10)
            assert await hand.world.store.refusals.remove(refusal.url_hash)
            site.routes = {**ROUTES, "/no": page("now allowed")}
            job = await hand.crawl(profile_config("docs"), site.url("/"))
            entry = (await hand.entries(job))["/no"]
    assert entry.state is State.COMPLETED


def test_what_a_stricter_rule_drops_is_not_asked_for(tmp_path: Path) -> None:
    """A URL that waits is judged again when its turn comes; it uses up no page."""
    with Site({"/": page("home", "/a", "/b")}, otherwise=page("there")) as site:
        crawl_site(tmp_path, site.url("/"), max_pages=1)
        crawled = crawl_site(tmp_path, site.url("/"), resume=True, exclude=("/b",))
        assert paths(site.log) == ["/", "/a"]
    entry = crawled.entries[site.url("/b")]
    assert (entry.state, entry.outcome, entry.status) == (State.SKIPPED, Outcome.EXCLUDED, None)
    assert entry.detail.startswith("exclude: ")
    assert crawled.exclusions["exclude"][1] == (site.url("/b"),)
    assert crawled.report.job.stats.settled == 2


@waits
async def test_every_visit_of_a_counted_pattern_is_counted_once(tmp_path: Path) -> None:
    """Kept, redirected or tried again; what is gone or forbidden says nothing about the rest."""
    busy = [Reply(status=503)]
    answers = {
        "/list?page=1": lambda: page("one"),
        "/list?page=2": lambda: page("two"),
        "/list?page=3": lambda: Reply(status=404),
        "/list?page=4": lambda: to("/there"),
        "/list?page=5": lambda: busy.pop() if busy else page("five"),
    }

    links = [*answers, "/list?page=6"]
    routes: dict[str, Route] = {
        "/robots.txt": robots("User-agent: *", "Disallow: /list?page=6"),
        "/": page("home", *links),
        "/there": page("there"),
        "/list": lambda seen: answers[seen.target](),
    }
    with Site(routes) as site:
        async with hand_in(tmp_path) as hand:
            job = await hand.crawl(CONFIG, site.url("/"))
            ((_, pattern, tally),) = await hand.world.store.census.patterns(job.id)
            assert len(hand.asked("/list?page=5")) == 2
    assert (pattern, tally.visited) == ("pagination:/list?page", 4)
