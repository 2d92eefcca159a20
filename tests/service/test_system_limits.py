"""What a whole service may have at once: requests in flight, and URLs that wait (G-03)."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from geomi.errors import ConfigError
from geomi.processes.crawl import CONCURRENCY, WorkerTask, serve_jobs
from geomi.processes.server import MAX_QUEUED, requests_per_process, server_settings
from geomi.service.crawling.crawls import begin_waiting
from geomi.settings.options import Settings
from tests.api.asking import LOCAL, serving
from tests.api.filling import EAGER
from tests.support.crawl import Ear, home_in, page
from tests.support.server import Raw, Reply, Seen, Site
from tests.support.waiting import waits

SITES = 5
AT_ONCE = 2


@pytest.mark.req("POL-13", "JOB-06")
@pytest.mark.parametrize(
    ("most", "workers", "asked", "share"),
    [
        (100, 1, None, CONCURRENCY),
        (100, 4, None, 25),
        (100, 0, None, CONCURRENCY),
        (100, 4, 25, 25),
        (100, 1, 100, 100),
        (7, 2, None, 3),
    ],
)
def test_every_process_has_its_share_of_the_requests_at_once(
    most: int, workers: int, asked: int | None, share: int
) -> None:
    settings = Settings(max_fetches=most)
    assert requests_per_process(settings, workers=workers, concurrency=asked) == share
    assert workers * share <= most


@pytest.mark.req("POL-13", "JOB-06")
@pytest.mark.parametrize(("workers", "asked"), [(1, 101), (4, 26), (101, None)])
def test_more_requests_at_once_than_the_limit_are_refused(workers: int, asked: int | None) -> None:
    with pytest.raises(ConfigError, match="GEOMI_MAX_FETCHES"):
        requests_per_process(Settings(), workers=workers, concurrency=asked)


@pytest.mark.req("POL-13", "JOB-06")
@waits
async def test_a_process_never_has_more_requests_in_flight_than_its_share(tmp_path: Path) -> None:
    def slow(seen: Seen) -> Raw:
        body = page("slow", text="It takes its time. " * 20).body
        head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n\r\n"
        return Raw((0.05, head.encode() + body))

    none = {"/robots.txt": Reply(status=404), "/sitemap.xml": Reply(status=404)}
    sites = [Site({**none, "/": slow}, address=f"127.0.0.{2 + one}") for one in range(SITES)]

    with ExitStack() as stack:
        for site in sites:
            stack.enter_context(site)
        async with serving(tmp_path) as ground:
            for number, site in enumerate(sites):
                asked = {"collectionId": f"c{number}", "seedUrls": [site.url("/")], "config": EAGER}
                client = (ground.mine, ground.other)[number % 2]
                assert (await client.post("/crawls", asked)).status == 202
            await begin_waiting(ground.service)
            async with home_in(tmp_path, Ear(), LOCAL) as other:
                await serve_jobs(other, WorkerTask(once=True, concurrency=AT_ONCE))
        times = [(seen.started_s, seen.ended_s) for site in sites for seen in site.log]
    pages = [seen for site in sites for seen in site.log if seen.path == "/"]
    assert len(pages) == SITES
    most = max(
        sum(start <= moment < (end or moment) for start, end in times) for moment, _ in times
    )
    assert most == AT_ONCE


@pytest.mark.req("JOB-06", "FRN-15")
@waits
async def test_what_waits_in_a_service_has_a_limit(tmp_path: Path) -> None:
    """Of all tenants together; the operator's word counts, also where it is that there is none."""
    assert server_settings(LOCAL).max_queued == MAX_QUEUED == 1_000_000
    assert server_settings(replace(LOCAL, max_queued=0)).max_queued == 0
    assert server_settings(replace(LOCAL, max_queued=5)).max_queued == 5

    async with serving(tmp_path, server_settings(LOCAL)) as ground:
        frontiers = [ground.desk.home.store.frontier, ground.service.home.store.frontier]
        assert [frontier.max_queued for frontier in frontiers] == [MAX_QUEUED] * 2
