"""Seed 001 in a running crawl: redirects, time limits, and copies that live in memory alone."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from pathlib import Path

import pytest

from geomi.engine.host.robots import RobotsKeeper
from geomi.engine.host.session import HostSession
from geomi.engine.visit.privacy import Privacy
from geomi.fetch.request import Requests
from geomi.model.config import CrawlConfig, Limits, Politeness
from geomi.model.entry import Batch, Lease
from geomi.model.robots import RobotsKey
from geomi.model.verdict import State
from geomi.url.parse import parse as parse_url
from tests.support.crawl import page, profile_config, robots, to
from tests.support.scanner_rules import SCANNER as RULES
from tests.support.server import End, Raw, Site
from tests.support.timed_crawl import Hand, hand_in
from tests.support.waiting import waits

DEFAULT = CrawlConfig(politeness=Politeness(delay_s=1.0), limits=Limits(max_pages=0, max_depth=10))
SCANNER = replace(DEFAULT, robots=RULES)
FORBIDDING = robots("User-agent: *", "Disallow: /private")


@pytest.mark.req("ROB-09")
@pytest.mark.parametrize(("hops", "is_obeyed"), [(3, True), (4, False)])
@waits
async def test_three_redirects_on_the_same_host(tmp_path: Path, hops: int, is_obeyed: bool) -> None:
    """One more, and everything is allowed."""
    routes = {f"/{n}": to(f"/{n + 1}") for n in range(1, hops)}
    routes |= {"/robots.txt": to("/1"), f"/{hops}": FORBIDDING, "/": page("h", "/private")}
    with Site({**routes, "/private": page("p")}) as site:
        async with hand_in(tmp_path) as hand:
            job = await hand.crawl(SCANNER, site.url("/"))
            entries = await hand.entries(job)
    assert (entries["/private"].state is State.BLOCKED) is is_obeyed


@pytest.mark.req("ROB-09")
@waits
async def test_a_redirect_to_another_host_allows_all(tmp_path: Path) -> None:
    """The other host is not even asked."""
    with Site({"/robots.txt": FORBIDDING}, address="127.0.0.2") as other:
        routes = {"/robots.txt": to(other.url("/robots.txt")), "/private": page("p")}
        with Site({**routes, "/": page("home", "/private")}) as site:
            async with hand_in(tmp_path) as hand:
                job = await hand.crawl(SCANNER, site.url("/"))
        assert other.log == []
    assert job.stats.collected == 2


@pytest.mark.req("ROB-09")
@waits
async def test_a_redirect_to_the_other_scheme_is_followed(tmp_path: Path) -> None:
    """Another port of the same name is the same host: http leads to https like this."""
    with Site({"/robots.txt": FORBIDDING}) as secure:
        routes = {"/robots.txt": to(secure.url("/robots.txt")), "/": page("h", "/private")}
        with Site({**routes, "/private": page("p")}) as site:
            async with hand_in(tmp_path) as hand:
                job = await hand.crawl(SCANNER, site.url("/"))
                entries = await hand.entries(job)
    assert entries["/private"].state is State.BLOCKED


@pytest.mark.req("ROB-07")
@waits
async def test_copies_live_in_memory_alone(tmp_path: Path) -> None:
    """Nothing is read from the store or written to it, and the next job asks for itself."""
    with Site({"/robots.txt": FORBIDDING, "/": page("home", "/a"), "/a": page("a")}) as site:
        async with hand_in(tmp_path) as hand:
            await hand.crawl(SCANNER, site.url("/"))
            key = RobotsKey("http", f"127.0.0.1:{site.port}", "geomi")
            assert await hand.store.robots.get(key) is None
            await hand.crawl(DEFAULT, site.url("/"))
            assert await hand.store.robots.get(key) is not None
            await hand.crawl(SCANNER, site.url("/"))
        asked = [seen.path for seen in site.log]
    assert asked.count("/robots.txt") == 3


@pytest.mark.req("ROB-07")
@pytest.mark.parametrize(("room", "asked"), [(3, [1, 1, 1]), (2, [1, 2, 1]), (1, [3, 2, 1])])
@waits
async def test_the_host_read_longest_ago_is_forgotten(
    tmp_path: Path, room: int, asked: list[int]
) -> None:
    """Of three hosts read in turns, the one in constant use stays where there is room for two."""
    assert RULES.cache_entries == 128
    config = replace(SCANNER, robots=replace(RULES, cache_entries=room))

    with Site({}) as a, Site({}) as b, Site({}) as c:
        async with hand_in(tmp_path) as hand:
            keeper = keeper_of(hand, config)
            for site in (a, b, a, c, a, b):
                await read_with(hand, keeper, config, site.url("/"))
        assert [len(site.log) for site in (a, b, c)] == asked


@pytest.mark.req("ROB-06")
@waits
async def test_a_file_holds_for_thirty_minutes_and_a_failure_for_ten(tmp_path: Path) -> None:
    """By the clock of the crawl."""
    with Site({"/robots.txt": FORBIDDING}) as site, Site({}) as without:
        async with hand_in(tmp_path) as hand:
            keeper = keeper_of(hand, SCANNER)
            for minutes in (0, 9, 2, 18, 2):
                hand.clock.advance(60.0 * minutes)
                for one in (site, without):
                    await read_with(hand, keeper, SCANNER, one.url("/"))
        assert len(site.log) == 2
        assert len(without.log) == 3


@pytest.mark.req("ROB-24")
@waits
async def test_more_than_a_thousand_rules_are_a_warning(tmp_path: Path) -> None:
    """The file forbids nothing, and somebody is told."""
    rules = robots("User-agent: *", "Disallow: /private", *["Disallow: /x"] * 1000)

    routes = {"/robots.txt": rules, "/": page("h", "/private"), "/private": page("p")}
    with Site(routes) as site:
        async with hand_in(tmp_path) as hand:
            job = await hand.crawl(SCANNER, site.url("/"))
            (told,) = hand.ear.warnings
    assert job.stats.collected == 2
    assert "above the limits; geomi takes it as allowing everything" in told


@pytest.mark.req("ROB-10")
def test_time_limits_are_those_of_the_request() -> None:
    """The scanner has two seconds to connect and three for each piece, the seed engine ten."""
    request = requests_of(SCANNER).robots("http://a.test/robots.txt", "a.test:80")
    assert (request.connect_timeout_s, request.read_timeout_s) == (2.0, 3.0)
    assert request.total_timeout_s >= 5.0
    default = requests_of(DEFAULT).robots("http://a.test/robots.txt", "a.test:80")
    assert (default.connect_timeout_s, default.total_timeout_s) == (5.0, 10.0)  # C-12
    seed_engine = requests_of(profile_config("seed-engine"))
    seeds = seed_engine.robots("http://a.test/robots.txt", "a.test:80")
    assert (seeds.connect_timeout_s, seeds.total_timeout_s) == (10.0, 10.0)


@pytest.mark.req("ROB-10", "ROB-13")
@waits
async def test_a_silent_server_is_not_waited_for(tmp_path: Path) -> None:
    """The file's own time limits hold, and what follows from them."""
    rules = replace(RULES, read_timeout_s=0.2, total_timeout_s=0.4)
    config = replace(SCANNER, robots=rules)

    with Site({"/robots.txt": Raw((), End.SILENCE), "/": page("home")}) as site:
        async with hand_in(tmp_path) as hand:
            began_s = time.monotonic()
            job = await hand.crawl(config, site.url("/"))
    assert job.stats.collected == 1
    assert time.monotonic() - began_s < 5


def keeper_of(hand: Hand, config: CrawlConfig) -> RobotsKeeper:
    """Make a reader of robots.txt that belongs to no job."""
    return RobotsKeeper(hand.world, "", config, requests_of(config), Privacy(config.safety))


def requests_of(config: CrawlConfig) -> Requests:
    """Make the requests of a job."""
    return Requests(config, [], version="0")


async def read_with(hand: Hand, keeper: RobotsKeeper, config: CrawlConfig, text: str) -> None:
    """Read a URL's robots.txt through a lease of its host."""
    url = parse_url(text)
    assert url is not None
    lease = await hand.frontier.reserve(
        "", url.authority, owner="w-hand", lease_s=600.0, delay_s=0.0, now_s=hand.clock.now_s()
    )
    assert isinstance(lease, Lease)
    asker = HostSession(hand.world, lease, config, Privacy(config.safety), asyncio.Semaphore(1))
    hand.clock.advance(5.0)
    await keeper.read(url, asker)
    hand.clock.advance(5.0)
    await hand.frontier.settle(Batch(hosts=(asker.farewell(),)))
