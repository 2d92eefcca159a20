"""One request at a time for a host, and a rest after each: whoever asks, and for whatever."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from geomi.app import DataDirectory
from geomi.engine import jobs
from geomi.engine.audit.audit import audit
from geomi.errors import ConfigError
from geomi.model.config import CrawlConfig, Limits, Politeness
from geomi.model.job import CrawlJob, StopReason
from tests.support.crawl import (
    Ear,
    crawl_site,
    home_in,
    page,
    paths,
    plan,
    profile_config,
    robots,
    start_in,
    to,
    worker_in,
)
from tests.support.server import Raw, Seen, Site
from tests.support.timed_crawl import hand_in
from tests.support.waiting import waits
from tests.support.webs import random_web

SLACK_S = 0.005  # the site, in a thread of this process, may note an end late


def least_gap_s(log: list[Seen]) -> float:
    """Return the shortest rest between the end of one answer and the next request."""
    return min(later.started_s - (earlier.ended_s or 0.0) for earlier, later in pairwise(log))


@pytest.mark.req("POL-05", "POL-16")
def test_a_host_is_asked_one_at_a_time(tmp_path: Path) -> None:
    """Ten at once are for ten hosts; redirects, robots.txt and sitemaps rest like pages."""
    web = random_web(1, pages=12)
    with Site({}) as site, Site(web.routes, address="127.0.0.2") as other:
        site.routes = {
            **web.routes,
            "/robots.txt": to("/rules.txt"),
            "/rules.txt": robots(f"Sitemap: {site.url('/map.txt')}"),
            "/map.txt": replace(page("x"), body=site.url("/r").encode(), content_type="text/plain"),
            "/r": to("/r/"),
            "/r/": page("r"),
        }
        crawled = crawl_site(tmp_path, site.url("/"), other.url("/"), delay=0.03, concurrency=10)
        for one in (site, other):
            assert least_gap_s(one.log) >= 0.03 - SLACK_S
        assert len(site.log) == 12 + 5
    assert crawled.report.stop is StopReason.DONE


@pytest.mark.req("POL-05", "POL-16")
def test_a_slow_answer_is_waited_for(tmp_path: Path) -> None:
    """The rest runs from the end of an answer, not from its beginning."""
    slow = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 9\r\n\r\n"
    links = [f"/{number}" for number in range(5)]
    answer = Raw((slow, 0.08, b"some text"))
    with Site({"/": page("home", *links), **dict.fromkeys(links, answer)}) as site:
        crawl_site(tmp_path, site.url("/"), delay=0.02)
        assert len(site.log) == 7
        assert least_gap_s(site.log) >= 0.02 - SLACK_S


@pytest.mark.req("POL-05")
@waits
async def test_two_jobs_keep_the_longer_delay_of_a_host(tmp_path: Path) -> None:
    """Politeness is owed to the site: the hasty job waits as the patient one does."""
    web = random_web(2, pages=5)

    with Site(web.routes) as site:
        url = site.url("/")
        ear = Ear()
        async with home_in(tmp_path, ear) as one, home_in(tmp_path, ear) as two:
            hasty = await _start(one, url, delay=0.0, user_agent="hasty/1")
            patient = await _start(two, url, delay=0.06, user_agent="patient/1")
            async with asyncio.TaskGroup() as group:
                for home, job in ((one, hasty), (two, patient)):
                    group.create_task(worker_in(home, job).run())
            for job in (hasty, patient):
                assert (await jobs.find(one.world, job.id)).stats.collected == 5
    agents = [seen.headers["user-agent"] for seen in site.log]
    assert agents.count("hasty/1") == agents.count("patient/1") == 6
    # It holds until the patient job has nothing left.
    end = len(agents) - agents[::-1].index("patient/1")
    assert "hasty/1" in agents[:end]
    assert least_gap_s(site.log[:end]) >= 0.06 - SLACK_S


@waits
async def test_the_floor_of_public_hosts_is_not_for_our_own(tmp_path: Path) -> None:
    """`min_delay_s` keeps a public host; loopback has only what the job asks for."""
    config = CrawlConfig(
        politeness=Politeness(delay_s=0.5, min_delay_s=20.0), limits=Limits(max_pages=0)
    )

    with Site({"/": page("home", "/a"), "/a": page("a")}) as site:
        async with hand_in(tmp_path) as hand:
            await hand.crawl(config, site.url("/"))
            assert hand.clock.now_s() - hand.began_s < 5
        assert paths(site.log) == ["/", "/a"]


@pytest.mark.parametrize("most", [1, 3])
@waits
async def test_one_address_has_so_many_hosts_at_once(tmp_path: Path, most: int) -> None:
    """Names on one machine take turns: `per_ip` requests in flight, and none is lost."""
    config = CrawlConfig(
        politeness=Politeness(delay_s=1.0, per_ip=most), limits=Limits(max_pages=0)
    )

    with ExitStack() as stack:
        sites = [stack.enter_context(Site({"/": page(str(number))})) for number in range(6)]
        async with hand_in(tmp_path) as hand:
            job = await hand.crawl(config, *(site.url("/") for site in sites))
            assert hand.fetcher.most_in_flight == most
    assert job.stats.collected == 6


@pytest.mark.req("POL-01", "POL-02")
@waits
async def test_a_documentation_crawl_asks_three_hosts_at_once_c29(tmp_path: Path) -> None:
    """One request each, every 1 to 2 seconds; hosts of one address take turns."""
    docs = profile_config("docs")
    config = replace(docs, limits=replace(docs.limits, max_pages=0))
    links = [f"/{number}" for number in range(4)]
    routes = {"/": page("home", *links)} | {link: page(link) for link in links}

    with ExitStack() as stack:
        sites = [
            stack.enter_context(Site(routes, address=f"127.0.0.{2 + number % 5}"))
            for number in range(7)
        ]
        async with hand_in(tmp_path) as hand:
            job = await hand.start([site.url("/") for site in sites], config)
            await hand.work(job, until=lambda: len(hand.frontier.lent) > 3)
            assert not hand.frontier.lent
            job = await hand.job(job)
            assert hand.fetcher.most_in_flight <= 3
            proof = await audit(hand.world)
            assert proof.broken == 0
            for host in proof.hosts:
                assert host.least_gap_s is not None
                assert 1.0 <= host.least_gap_s < 2.0
            assert max(address.most_at_once for address in proof.addresses) == 1
    assert job.stats.requests == 7 * 6


@pytest.mark.req("POL-03")
@waits
async def test_a_cap_of_an_hour_decides_how_long_a_crawl_takes_c30(tmp_path: Path) -> None:
    """Three times the cap needs at least two hours; robots.txt counts like a page."""
    cap = 20
    own = Politeness(delay_s=1.0, max_per_hour=cap)
    links = [f"/{number}" for number in range(3 * cap - 2)]
    routes = {"/": page("home", *links)} | {link: page(link) for link in links}

    with Site(routes | {"/robots.txt": robots("User-agent: *", "Disallow:")}) as site:
        async with hand_in(tmp_path) as hand:
            job = await hand.crawl(
                CrawlConfig(politeness=own, limits=Limits(max_pages=0)), site.url("/")
            )
            assert hand.clock.now_s() - hand.began_s >= 2 * 3600
            proof = await audit(hand.world)
            assert [(one.window, one.most, one.broken) for one in proof.caps] == [("hour", cap, 0)]
        assert job.stats.collected == len(links) + 1
        assert job.stats.requests == len(site.log) == 3 * cap


def test_a_host_that_answers_slowly_is_asked_less_often(tmp_path: Path) -> None:
    """What it takes to answer, it gets to rest."""
    slow = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 9\r\n\r\n"
    with Site({"/": page("home"), "/robots.txt": Raw((slow, 1.05, b"some text"))}) as site:
        crawl_site(tmp_path, site.url("/"))
        assert len(site.log) == 2
        assert least_gap_s(site.log) >= 1.05 - SLACK_S


@pytest.mark.req("POL-06")
@pytest.mark.parametrize("rate", ["0.09", "5.1"])
def test_a_rate_has_its_range(rate: str) -> None:
    with pytest.raises(ConfigError, match="requests_per_second"):
        plan(["http://a.test/"], assignments=[f"politeness.requests_per_second={rate}"])


async def _start(home: DataDirectory, url: str, **options: Any) -> CrawlJob:
    return await start_in(home, plan([url], **options))
