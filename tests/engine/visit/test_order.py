"""The order `weighted`, and how much may wait, through the whole engine."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from geomi.engine.inspect.why import explain
from geomi.engine.loop_share import LoopShare
from geomi.engine.visit.links import CountedLinks, LinkGate, LinkValue, link_value_of
from geomi.engine.visit.rules import JobRules
from geomi.frontier.priority import merit
from geomi.model.config import CrawlConfig, Limits, Preset, UrlOrder, Weights
from geomi.model.entry import Discovered, Target
from geomi.model.page import PageLink
from geomi.url.parse import parse, url_hash
from tests.engine.visit.test_links import entry
from tests.support.crawl import LOCAL, Ear, crawl_seeds, crawl_site, home_in, page, paths
from tests.support.server import Reply, Seen, Site
from tests.support.timed_crawl import hand_in
from tests.support.waiting import waits
from tests.support.webs import random_web

RANKED = CrawlConfig(order=UrlOrder.WEIGHTED, limits=Limits(max_depth=2))
SEED = "https://a.test/"


def test_a_weighted_crawl_collects_all_that_others_do(tmp_path: Path) -> None:
    """The order decides when, never whether."""
    web = random_web(7, pages=60)
    with Site(web.routes) as site:
        crawled = crawl_site(tmp_path, site.url("/"), assignments=["order=weighted"])
        asked = paths(site.log)
    assert len(asked) == len(set(asked)) == len(crawled.records)
    assert set(asked) == web.reachable


@pytest.mark.req("PRI-04", "PRI-05")
def test_what_many_pages_link_to_is_visited_first(tmp_path: Path) -> None:
    """Found last on the home page, and linked from every other page."""
    names = [f"/p{number}" for number in range(30)]
    routes = {"/": page("home", *names, "/hub"), "/hub": page("hub")}
    routes |= {name: page(name, "/hub") for name in names}
    with Site(routes) as site:
        crawl_site(tmp_path, site.url("/"), assignments=["order=weighted"])
        asked = paths(site.log)
    assert asked.index("/hub") <= 2


@pytest.mark.req("PRI-01")
@pytest.mark.parametrize(("include", "boost"), [([], 0), (["scope.include=/**"], 30)])
def test_by_score_a_sitemaps_pages_come_before_links(
    tmp_path: Path, include: list[str], boost: int
) -> None:
    """Each URL has its score, and the highest is asked for first."""
    routes = {
        "/": page("home", "/linked"),
        "/linked": page("linked", "/deep"),
        "/deep": page("deep"),
        "/listed": page("listed"),
    }
    with Site({**routes, "/sitemap.xml": _listing}) as site:
        given = [f"scope.sitemap_urls={site.url('/sitemap.xml')}", "scope.sitemaps=true"]
        crawled = crawl_site(tmp_path, site.url("/"), assignments=["order=score", *given, *include])
        assert paths(site.log) == ["/sitemap.xml", "/", "/listed", "/linked", "/deep"]
        scores = {path: crawled.entries[site.url(path)].priority for path in routes}
    assert scores == {
        "/": 150 + boost, "/listed": 110 + boost, "/linked": 90 + boost, "/deep": 80 + boost,
    }  # fmt: skip


@pytest.mark.req("PRI-02", "PRI-03")
@pytest.mark.parametrize(("preset", "first"), [("news", "/new"), ("academic", "/hub")])
def test_what_a_crawl_is_for_decides_what_comes_first(
    tmp_path: Path, preset: str, first: str
) -> None:
    """A page that was written lately, and one of unknown age that every page links to."""
    names = [f"/p{number}" for number in range(9)]
    routes = {"/": page("home", *names, "/hub"), "/hub": page("hub"), "/new": page("new")}
    routes |= {name: page(name, "/hub") for name in names}
    lately = (datetime.now(UTC) - timedelta(days=5)).date()

    def listing(seen: Seen) -> Reply:
        dated = {"/new": lately} | {f"/old{number}": "2001-01-01" for number in range(100)}
        urls = (
            f"<url><loc>http://{seen.host}{path}</loc><lastmod>{day}</lastmod></url>"
            for path, day in dated.items()
        )
        text = f"<urlset>{''.join(urls)}</urlset>"
        return Reply(text.encode(), content_type="application/xml")

    with Site({**routes, "/map.xml": listing}) as site:
        given = [f"scope.sitemap_urls={site.url('/map.xml')}", "scope.sitemaps=true"]
        weighted = ["order=weighted", f"weights.preset={preset}", "limits.max_pages=6"]
        crawl_site(tmp_path, site.url("/"), assignments=[*weighted, *given])
        asked = paths(site.log)
    assert next(path for path in asked if path in ("/new", "/hub")) == first
    assert asked.index(first) <= 3


@pytest.mark.req("G-03")
def test_urls_without_room_are_told_and_taken_when_there_is_more(tmp_path: Path) -> None:
    """A home page with more links than may wait."""
    names = [f"/p{number}" for number in range(10)]
    routes = {"/": page("home", *names)} | {name: page(name) for name in names}
    with Site(routes) as site:
        seed = site.url("/")
        few = crawl_site(tmp_path, seed, assignments=["limits.max_queued=4"])
        assert len(few.records) == 5
        assert few.exclusions["limits.max_queued"][0] == 6
        more = crawl_site(tmp_path, seed, assignments=["limits.max_queued=0"], resume=True)
        assert len(more.records) == 11
        assert len(paths(site.log)) == 11


@pytest.mark.req("FRN-15")
@waits
async def test_a_limit_over_all_jobs_keeps_links_out_and_why_says_so(tmp_path: Path) -> None:
    names = [f"/p{number}" for number in range(10)]
    routes = {"/": page("home", *names)} | {name: page(name) for name in names}
    crowded = replace(LOCAL, max_queued=4)
    with Site(routes) as site:
        few = await crawl_seeds(tmp_path, site.url("/"), settings=crowded)
        assert len(few.records) == 5
        count, examples = few.exclusions["geomi.max_queued"]
        assert count == 6

        url = examples[0]
        async with home_in(tmp_path, Ear(), crowded) as home:
            asked = parse(url)
            assert asked is not None
            told = await explain(home.world, few.report.job, asked, ())
        assert (told.answer, told.decided_by) == ("not fetched", "geomi.max_queued")
        assert "GEOMI_MAX_QUEUED" in told.hint
        again = ["limits.max_queued=0"]
        more = await crawl_seeds(tmp_path, site.url("/"), assignments=again, resume=True)
        assert len(more.records) == 11


def test_a_url_without_room_is_found_again_by_the_next_page(tmp_path: Path) -> None:
    """The worker must not take it for one that is in the store."""
    names = [f"/p{number}" for number in range(6)]
    routes = {"/": page("home", *names)} | {name: page(name, *names) for name in names}
    with Site(routes) as site:
        crawled = crawl_site(tmp_path, site.url("/"), assignments=["limits.max_queued=2"])
    assert len(crawled.records) == 7


def test_every_link_counts_and_each_once() -> None:
    """Known or new, as often as a page repeats it; what rules keep out does not count."""
    gate = _gate(RANKED)
    links = [f"{SEED}x", f"{SEED}y", f"{SEED}x", "https://b.test/", f"{SEED}login"]
    expected = (_target("x"), _target("y"))
    for _ in range(2):
        named = [PageLink(url, "", "") for url in links]
        found = asyncio.run(gate.admit(entry(), SEED, named, nofollow=False))
        assert found.endorsed == expected
        gate.remember(found.discovered)
    assert found.discovered == ()


def test_other_orders_count_no_links() -> None:
    named = [PageLink(f"{SEED}x", "", "")]
    found = asyncio.run(_gate(CrawlConfig()).admit(entry(), SEED, named, nofollow=False))
    assert (len(found.discovered), found.endorsed) == (1, ())


def test_what_was_forgotten_is_named_again() -> None:
    named: list[str] = []

    def name(url: str) -> Target:
        named.append(url)
        return "a.test:443", url.encode()

    memory = CountedLinks(name, capacity=2)
    for url in ("a", "b", "a", "c", "d", "e", "a"):
        targets = asyncio.run(memory.of([url], LoopShare().of_page()))
        assert targets == (("a.test:443", url.encode()),)
    assert named == ["a", "b", "c", "d", "e", "a"]


@pytest.mark.req("PRI-02", "PRI-06")
@waits
async def test_a_busy_site_is_worth_more(tmp_path: Path) -> None:
    """Its rank may be that of the domain above it."""
    async with hand_in(tmp_path) as hand:
        await hand.world.store.ranks.put([("busy.test", 1)], edition=1)
        worth = LinkValue(hand.world, RANKED)
        quiet, busy = await worth.of(
            [_found("https://quiet.test/"), _found("https://www.busy.test/")]
        )
    unknown = merit(Weights(), traffic=0, freshness=0.5)
    assert (quiet.priority, busy.priority) == (unknown, merit(Weights(), traffic=1, freshness=0.5))


@pytest.mark.req("PRI-08", "PRI-03")
@waits
async def test_news_come_first_where_they_are_wanted(tmp_path: Path) -> None:
    """By the date that a sitemap gives."""
    async with hand_in(tmp_path) as hand:
        now_s = hand.world.clock.wall_s()
        worth = LinkValue(hand.world, replace(RANKED, weights=Weights(Preset.NEWS)))
        new = replace(_found("https://a.test/new"), lastmod_s=now_s)
        old = replace(_found("https://a.test/old"), lastmod_s=now_s - 365 * 86_400)
        one, other = await worth.of([new, old])
    assert (one.priority, other.priority) == (600_000, 0)


@waits
async def test_only_the_weighted_order_asks_what_a_find_is_worth(tmp_path: Path) -> None:
    async with hand_in(tmp_path) as hand:
        assert all(
            link_value_of(hand.world, CrawlConfig(order=order)) is None
            for order in (UrlOrder.SCORE, UrlOrder.BFS)
        )


def _listing(seen: Seen) -> Reply:
    listed = f"<urlset><url><loc>http://{seen.host}/listed</loc></url></urlset>"
    return Reply(listed.encode(), content_type="application/xml")


def _gate(config: CrawlConfig) -> LinkGate:
    return LinkGate(JobRules(config, [SEED], now_year=2024))


def _target(path: str) -> Target:
    return "a.test:443", url_hash(f"{SEED}{path}")


def _found(text: str) -> Discovered:
    url = parse(text)
    assert url is not None
    found = JobRules(RANKED, [text], now_year=2024).seed(url)
    assert isinstance(found, Discovered)
    return found
