"""Where a crawl ends, in which order it goes there, and what it says of itself on the way."""

from __future__ import annotations

import asyncio
import socket
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from geomi.engine import jobs
from geomi.engine.worker import supervisor
from geomi.fetch.request import build
from geomi.model.job import JobState, StopReason
from geomi.model.request_log import RequestPurpose
from geomi.model.verdict import State
from tests.support.crawl import (
    LOCAL,
    Ear,
    crawl_site,
    home_in,
    page,
    paths,
    plan,
    profile_config,
    read_records,
    robots,
    start_in,
    to,
    worker_in,
)
from tests.support.server import Reply, Site
from tests.support.timed_crawl import hand_in
from tests.support.waiting import waits
from tests.support.webs import random_web


@pytest.mark.req("FRN-01", "FRN-05", "FRN-07", "LNK-18")
def test_everything_reachable_is_collected_once(tmp_path: Path) -> None:
    """From two seeds, every page that links lead to and no other, one request each."""
    webs = [random_web(seed, pages=60) for seed in (1, 2)]
    with Site(webs[0].routes) as one, Site(webs[1].routes, address="127.0.0.2") as two:
        crawled = crawl_site(tmp_path, one.url("/"), two.url("/"))
        for site, web in ((one, webs[0]), (two, webs[1])):
            asked = paths(site.log)
            assert len(asked) == len(set(asked))
            assert set(asked) == web.reachable
    assert len(crawled.urls) == len(set(crawled.urls)) == 120
    assert crawled.report.stop is StopReason.DONE
    assert crawled.report.job.state is JobState.COMPLETED
    assert set(crawled.states(one).values()) == {State.COMPLETED}


@pytest.mark.req("JOB-09")
@pytest.mark.parametrize("limit", [1, 2, 7, 25])
def test_max_pages_is_exact(tmp_path: Path, limit: int) -> None:
    """Not one page more is fetched; the rest waits for a higher limit."""
    web = random_web(3, pages=60)
    with Site(web.routes) as site:
        crawled = crawl_site(tmp_path, site.url("/"), max_pages=limit)
        assert len(paths(site.log)) == limit
    assert len(crawled.records) == limit
    assert crawled.report.stop is StopReason.MAX_PAGES
    assert crawled.report.job.state is JobState.COMPLETED
    assert crawled.report.job.stats.settled == limit


@pytest.mark.req("JOB-09")
@waits
async def test_max_pages_is_exact_with_two_workers(tmp_path: Path) -> None:
    """Two workers on three hosts share one limit, and ask for nothing twice."""
    limit = 37
    webs = [random_web(seed, pages=40) for seed in (4, 5, 6)]

    with (
        Site(webs[0].routes) as a,
        Site(webs[1].routes, address="127.0.0.2") as b,
        Site(webs[2].routes, address="127.0.0.3") as c,
    ):
        seeds = [a.url("/"), b.url("/"), c.url("/")]
        planned = plan(seeds, max_pages=limit)
        ear = Ear()
        async with home_in(tmp_path, ear) as one, home_in(tmp_path, ear) as two:
            job = await start_in(one, planned)
            crew = [worker_in(home, job, workers=2) for home in (one, two)]
            async with asyncio.TaskGroup() as group:
                stops = [group.create_task(each.run()) for each in crew]
            assert {stop.result() for stop in stops} == {StopReason.MAX_PAGES}
            assert (await jobs.find(one.world, job.id)).stats.settled == limit
        asked = [site.url(path) for site in (a, b, c) for path in paths(site.log)]
        assert len(asked) == len(set(asked)) == limit


@pytest.mark.req("JOB-09")
def test_only_pages_use_up_the_limit(tmp_path: Path) -> None:
    """Redirects, blocked URLs and sitemaps are free; a page that failed is not."""
    with Site({}) as site:
        site.routes = {
            "/robots.txt": robots(
                "User-agent: *", "Disallow: /no", f"Sitemap: {site.url('/m.xml')}"
            ),
            "/m.xml": Reply(b"<urlset/>", content_type="text/xml"),
            "/": page("home", "/r1", "/r2", "/no1", "/no2", "/gone", "/a", "/b", "/c"),
            "/r1": to("/a"),
            "/r2": to("/b"),
            **{f"/{name}": page(name) for name in "abc"},
        }
        crawled = crawl_site(tmp_path, site.url("/"), max_pages=4)
    stats = crawled.report.job.stats
    assert (stats.settled, stats.failed, stats.redirected) == (4, 1, 2)
    assert len(crawled.records) == 3


def test_max_bytes_ends_the_crawl(tmp_path: Path) -> None:
    """What came is counted as it came; a limit that is passed takes no more hosts."""
    routes = {"/": page("home", *(f"/{n}" for n in range(100)))}
    routes |= {f"/{n}": page(str(n), text="word " * 10_000) for n in range(100)}
    with Site(routes) as site:
        crawled = crawl_site(tmp_path, site.url("/"), max_bytes=200_000, delay=0.05)
        assert 5 <= len(site.log) <= 30
    assert crawled.report.stop is StopReason.MAX_BYTES
    assert crawled.report.job.stats.bytes_received >= 200_000


def test_max_time_counts_each_second_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seconds that were written down are not added to themselves, and survive a restart."""
    monkeypatch.setattr(supervisor, "BEAT_S", 0.05)
    endless = Site({}, otherwise=lambda seen: page(seen.path, f"{seen.path}x"))
    with endless as site:
        first = crawl_site(tmp_path, site.url("/"), max_time=1.5, delay=0.02, depth=1000)
        assert first.report.stop is StopReason.MAX_TIME
        assert 1.5 <= first.report.seconds < 3
        again = crawl_site(
            tmp_path, site.url("/"), resume=True, max_time=2.0, delay=0.02, depth=1000
        )
        assert again.report.stop is StopReason.MAX_TIME
        assert again.report.seconds < 1.0


def test_a_disk_that_is_nearly_full_is_left_alone(tmp_path: Path) -> None:
    """The crawl ends before anything fails, and goes on when there is room."""
    with Site({"/": page("home")}) as site:
        full = crawl_site(tmp_path, site.url("/"), settings=replace(LOCAL, min_free_bytes=2**62))
        assert full.report.stop is StopReason.DISK_FULL
        assert full.report.job.state is JobState.PROCESSING
        assert paths(site.log) == []
        assert crawl_site(tmp_path, site.url("/"), resume=True).report.stop is StopReason.DONE


@pytest.mark.req("LNK-01", "FRN-03", "FRN-04")
def test_one_host_goes_breadth_first(tmp_path: Path) -> None:
    """Depth by depth, and inside a depth in the order of discovery."""
    routes = {"/": page("home", *(f"/{a}" for a in range(4)))}
    routes |= {f"/{a}": page(f"p{a}", *(f"/{a}/{b}" for b in range(4))) for a in range(4)}
    routes |= {f"/{a}/{b}": page(f"q{a}{b}", f"/{a}/{b}/z") for a in range(4) for b in range(4)}
    with Site(routes, otherwise=lambda seen: page(seen.path)) as site:
        crawl_site(tmp_path, site.url("/"))
        deep = [f"/{a}/{b}" for a in range(4) for b in range(4)]
        assert paths(site.log) == [
            "/",
            *(f"/{a}" for a in range(4)),
            *deep,
            *(f"{path}/z" for path in deep),
        ]


@pytest.mark.req("FRN-03")
@pytest.mark.parametrize("depth", [0, 1, 3])
def test_depth_has_a_limit(tmp_path: Path, depth: int) -> None:
    """A page at the limit is fetched, its links are counted and left."""
    with Site({}, otherwise=lambda seen: page(seen.path, f"{seen.path}x")) as site:
        crawled = crawl_site(tmp_path, site.url("/"), depth=depth)
        assert paths(site.log) == ["/" + "x" * n for n in range(depth + 1)]
    assert crawled.exclusions["depth"][0] == 1
    assert [record["depth"] for record in crawled.records] == list(range(depth + 1))


@pytest.mark.req("FRN-11")
def test_a_raised_limit_goes_on(tmp_path: Path) -> None:
    """`--resume -n 20` after `-n 5` fetches fifteen more, and none again."""
    web = random_web(8, pages=40)
    with Site(web.routes) as site:
        crawl_site(tmp_path, site.url("/"), max_pages=5)
        same = crawl_site(tmp_path, site.url("/"), max_pages=5, resume=True)
        assert same.report.stop is StopReason.MAX_PAGES
        assert len(paths(site.log)) == 5
        more = crawl_site(tmp_path, site.url("/"), max_pages=20, resume=True)
        asked = paths(site.log)
        assert len(asked) == len(set(asked)) == 20
        assert len(more.records) == 20
        done = crawl_site(tmp_path, site.url("/"), max_pages=0, resume=True)
    assert done.report.stop is StopReason.DONE
    assert set(done.urls) == {site.url(path) for path in web.reachable}


@pytest.mark.parametrize("workers", [2])
@pytest.mark.slow
def test_worker_processes_share_the_limit(tmp_path: Path, workers: int) -> None:
    """The same with processes: exact, and their outputs are one."""
    web = random_web(9, pages=60)
    with Site(web.routes) as a, Site(web.routes, address="127.0.0.2") as b:
        crawled = crawl_site(tmp_path, a.url("/"), b.url("/"), max_pages=50, workers=workers)
        assert len(paths([*a.log, *b.log])) == 50
    assert crawled.report.stop is StopReason.MAX_PAGES
    assert len(read_records(tmp_path)) == 50


class TestRequests:
    """What a request says."""

    @pytest.mark.req("HTTP-01", "HTTP-05", "ROB-02", "LEG-08")
    def test_every_request_is_an_honest_get(self, tmp_path: Path) -> None:
        """One name with a contact, for pages and robots.txt alike."""
        with Site({"/": page("home", "/a"), "/a": page("a")}) as site:
            crawl_site(tmp_path, site.url("/"))
        assert {seen.method for seen in site.log} == {"GET"}
        (agent,) = {seen.headers["user-agent"] for seen in site.log}
        assert agent.startswith("geomi/")
        assert agent.endswith(f"(+{LOCAL.contact})")

    @pytest.mark.req("HTTP-02", "HTTP-04", "HTTP-06", "HTTP-09")
    @pytest.mark.parametrize(
        ("profile", "agent", "encodings"),
        [
            ("default", "geomi/0", "gzip, deflate, br, zstd"),
            (
                "docs",
                "APIIntelBot/1.0 (+https://api-intel.vercel.app/bot)",
                "gzip, deflate, br",
            ),
            ("scanner", "WebKillerAI", "gzip, deflate, br, zstd"),
            (
                "seed-engine",
                "NewsforkBot/1.0 (+https://newsfork.com/bot)",
                "gzip, deflate, br, zstd",
            ),
            ("web-scale", "geomi/0", "gzip, deflate, br, zstd"),
            (
                "knowledge-base",
                "KnowledgeBaseBot/1.0 (+https://example.com/bot; bot@example.com)",
                "gzip, deflate, br, zstd",
            ),
        ],
    )
    @waits
    async def test_a_profile_says_who_asks_and_what_it_takes(
        self, tmp_path: Path, profile: str, agent: str, encodings: str
    ) -> None:
        """These headers, to the letter, and no other; robots.txt is asked for by the same name."""
        with Site({"/robots.txt": robots("User-agent: *"), "/": page("home")}) as site:
            async with hand_in(tmp_path) as hand:
                await hand.crawl(profile_config(profile), site.url("/"))
            headers = {seen.path: seen.headers for seen in site.log}
        assert headers["/"] == {
            "host": f"127.0.0.1:{site.port}",
            "user-agent": agent,
            "accept": "text/html, application/xhtml+xml, application/xml;q=0.9, */*;q=0.8",
            "accept-language": "en-US,en;q=0.9,ko;q=0.8",
            "accept-encoding": encodings,
            "connection": "keep-alive",
        }
        assert headers["/robots.txt"] == headers["/"] | {"accept": "*/*"}

    @pytest.mark.req("DNS-01")
    def test_a_name_is_looked_up_once(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """However many pages of it are asked for."""
        look_up, asked = socket.getaddrinfo, list[bytes]()

        def counting(host: bytes, *rest: Any, **named: Any) -> Any:
            asked.append(host)
            return look_up(b"127.0.0.1" if host == b"site.test" else host, *rest, **named)

        monkeypatch.setattr(socket, "getaddrinfo", counting)
        with Site({"/": page("home", "/a", "/b"), "/a": page("a"), "/b": page("b")}) as site:
            crawled = crawl_site(tmp_path, site.url("/", host="site.test"))
        assert len(crawled.records) == 3
        assert asked.count(b"site.test") == 1

    @pytest.mark.req("HTTP-10", "HTTP-11")
    @pytest.mark.parametrize(
        ("profile", "page_s", "robots_s"),
        [
            ("default", (5, 30, 60), (5, 10, 10)),
            ("docs", (30, 30, 30), (5, 10, 10)),
            ("scanner", (5, 30, 60), (2, 3, 5)),
            ("web-scale", (5, 10, 60), (5, 10, 10)),
        ],
    )
    def test_a_profile_says_how_long_it_waits_g09(
        self,
        profile: str,
        page_s: tuple[float, float, float],
        robots_s: tuple[float, float, float],
    ) -> None:
        """Seconds to connect, between two pieces, and for the whole answer."""
        config = profile_config(profile)
        for purpose, times_s in ((RequestPurpose.PAGE, page_s), (RequestPurpose.ROBOTS, robots_s)):
            asked = build("https://a.test/", config, version="0", purpose=purpose)
            found = (asked.connect_timeout_s, asked.read_timeout_s, asked.total_timeout_s)
            assert found == times_s, purpose

    @pytest.mark.req("HTTP-12", "LEG-12")
    def test_no_cookie_ever_comes_back(self, tmp_path: Path) -> None:
        """Set-Cookie is heard and forgotten, on redirects too."""
        cookie = (("Set-Cookie", "id=1; Path=/"),)
        first = Reply(page("home", "/a", "/r").body, headers=cookie)
        moved = Reply(status=302, headers=(*cookie, ("Location", "/b")))
        routes = {"/": first, "/a": page("a"), "/r": moved, "/b": page("b")}
        with Site(routes) as site:
            crawled = crawl_site(tmp_path, site.url("/"))
        assert len(crawled.records) == 3
        assert all("cookie" not in seen.headers for seen in site.log)

    def test_own_headers_go_to_the_seeds_alone(self, tmp_path: Path) -> None:
        """A token must not follow a link or a redirect to a stranger."""
        with Site({"/": page("other"), "/moved": page("moved")}, address="127.0.0.2") as stranger:
            routes = {"/": page("home", stranger.url("/"), "/r"), "/r": to(stranger.url("/moved"))}
            with Site(routes) as site:
                crawl_site(
                    tmp_path, site.url("/"), scope="any", header=("Authorization: Bearer secret",)
                )
                assert {seen.headers.get("authorization") for seen in site.log} == {"Bearer secret"}
            assert {seen.path for seen in stranger.log} == {"/robots.txt", "/", "/moved"}
            assert all("authorization" not in seen.headers for seen in stranger.log)
