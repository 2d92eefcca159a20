"""Pausing, cancelling and interrupting a running crawl: what is in flight ends, nothing is lost."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from geomi.adapters.http.connection import Connection
from geomi.adapters.machine.presence import PresenceLock
from geomi.app import DataDirectory
from geomi.engine import jobs
from geomi.engine.worker import loop
from geomi.engine.worker.supervisor import Supervisor
from geomi.errors import ConfigError, StoreBusy
from geomi.fetch.request import build
from geomi.model.config import CrawlConfig, Limits, Politeness
from geomi.model.event import PageSettled
from geomi.model.job import JobState, StopReason
from geomi.model.page import Fetched
from geomi.model.verdict import State
from geomi.url.parse import parse
from tests.support.crawl import (
    Crawled,
    Ear,
    crawl_in,
    crawl_seeds,
    crawl_site,
    home_in,
    page,
    paths,
    plan,
)
from tests.support.server import Answer, Raw, Seen, Site
from tests.support.timed_crawl import hand_in
from tests.support.waiting import waits
from tests.support.webs import random_web

WEB = random_web(11, pages=40)


async def until(claim: Callable[[], bool]) -> None:
    """Wait until something is so."""
    while not claim():  # noqa: ASYNC110  # a log in another thread tells nobody
        await asyncio.sleep(0.005)


async def watched(
    root: Path,
    site: Site,
    act: Callable[[DataDirectory, Supervisor], object],
    *,
    after: int,
    **options: Any,
) -> Crawled:
    """Crawl a site; when so many requests came, act from a second handle on the same directory."""
    ear = Ear()
    started: list[Supervisor] = []
    async with home_in(root, ear) as home, home_in(root, Ear()) as other:
        async with asyncio.TaskGroup() as group:
            planned = plan([site.url("/")], **options)
            crawling = group.create_task(crawl_in(home, ear, planned, started.append))
            await until(lambda: len(site.log) >= after)
            done = act(other, started[0])
            if asyncio.iscoroutine(done):
                await done
        return crawling.result()


class TestPause:
    """A flag beside the state (G-28)."""

    @waits
    async def test_a_paused_job_asks_for_nothing_and_goes_on(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Soon after the pause nothing is asked for; afterwards everything is there, once.

        A host is lent with ten URLs; a pause does not wait for all of them.
        """
        monkeypatch.setattr(loop, "CONTROL_S", 0.02)
        web = random_web(12, pages=11, links=10)
        counts: list[int] = []

        async def act(home: DataDirectory, _: Supervisor) -> None:
            job = await jobs.find(home.world, "latest")
            await jobs.pause(home.world, job, paused=True)
            await asyncio.sleep(0.2)
            counts.append(len(site.log))
            await asyncio.sleep(0.2)
            counts.append(len(site.log))
            job = await jobs.find(home.world, job.id)
            assert (job.state, job.paused) == (JobState.PROCESSING, True)
            await jobs.pause(home.world, job, paused=False)

        with Site(web.routes) as site:
            crawled = await watched(tmp_path, site, act, after=4, delay=0.1)
            assert counts[0] == counts[1] < 9
            assert Counter(paths(site.log)) == Counter(web.reachable)
        assert crawled.report.stop is StopReason.DONE
        assert len(crawled.records) == 11

    @waits
    async def test_a_finished_job_cannot_be_paused(self, tmp_path: Path) -> None:
        """The message says what state it is in."""
        ear = Ear()
        async with home_in(tmp_path, ear) as home:
            with Site({"/": page("home")}) as site:
                done = await crawl_in(home, ear, plan([site.url("/")]))
            with pytest.raises(ConfigError, match="completed"):
                await jobs.pause(home.world, done.report.job, paused=True)
            with pytest.raises(ConfigError, match="completed"):
                await jobs.cancel(home.world, done.report.job)


@pytest.mark.req("JOB-14")
@waits
async def test_a_cancelled_job_ends_and_stays_so(tmp_path: Path) -> None:
    """What is in flight ends and is kept; `--resume` does not bring the job back."""

    async def act(home: DataDirectory, _: Supervisor) -> None:
        await jobs.cancel(home.world, await jobs.find(home.world, "latest"))

    with Site(WEB.routes) as site:
        crawled = await watched(tmp_path, site, act, after=8, delay=0.05)
        asked = len(site.log)
        assert asked < 35
        again = await crawl_seeds(tmp_path, site.url("/"), resume=True)
        assert len(site.log) == asked
    assert crawled.report.stop is StopReason.CANCELLED
    assert crawled.report.job.state is JobState.CANCELLED
    assert crawled.report.job.ended_at_s is not None
    assert len(crawled.records) == crawled.report.job.stats.collected >= 5
    assert again.report.job.id == crawled.report.job.id


class TestInterrupt:
    """Ctrl-C once, and twice."""

    @pytest.mark.parametrize("times", [1, 2])
    @pytest.mark.parametrize("delay", [0.0, 0.01])
    @waits
    async def test_nothing_is_lost_and_resume_completes(
        self, tmp_path: Path, times: int, delay: float
    ) -> None:
        """Draining asks for no page twice; stopping now may repeat what it cut off."""

        def act(_: DataDirectory, supervisor: Supervisor) -> None:
            assert [supervisor.interrupt() for _ in range(times)] == [False, True][:times]

        with Site(WEB.routes) as site:
            first = await watched(tmp_path, site, act, after=12, delay=delay)
            asked = len(site.log)
            assert first.report.stop is StopReason.INTERRUPTED
            assert first.report.job.state is JobState.PROCESSING
            assert len(first.records) == first.report.job.stats.collected
            rest = await crawl_seeds(tmp_path, site.url("/"), resume=True)
            assert len(site.log) > asked or asked >= 41
            visits = Counter(paths(site.log))
        assert set(visits) == WEB.reachable
        assert sum(visits.values()) - len(visits) <= (0 if times == 1 else 1)
        assert rest.report.stop is StopReason.DONE
        assert Counter(rest.urls) == Counter(site.url(path) for path in WEB.reachable)
        assert set(rest.states(site).values()) == {State.COMPLETED}

    @pytest.mark.parametrize(("times", "state"), [(1, State.COMPLETED), (2, State.PENDING)])
    @waits
    async def test_draining_waits_for_what_is_in_flight(
        self, tmp_path: Path, times: int, state: State
    ) -> None:
        """The answer that is under way is kept; a second interrupt leaves its URL waiting."""

        def act(_: DataDirectory, supervisor: Supervisor) -> None:
            for _turn in range(times):
                supervisor.interrupt()

        with Site({"/": page("home", "/slow"), "/slow": _slow}) as site:
            crawled = await watched(tmp_path, site, act, after=3)
        assert crawled.entries[site.url("/slow")].state is state

    @waits
    async def test_what_rests_goes_back_at_once(self, tmp_path: Path) -> None:
        """A drain does not wait for a host's next turn."""

        def act(_: DataDirectory, supervisor: Supervisor) -> None:
            supervisor.interrupt()

        with Site(WEB.routes) as site:
            crawled = await watched(tmp_path, site, act, after=1, delay=20.0)
            assert [seen.path for seen in site.log] == ["/robots.txt"]
        assert crawled.report.seconds < 3
        assert crawled.entries[site.url("/")].state is State.PENDING

    @waits
    async def test_before_the_first_request(self, tmp_path: Path) -> None:
        """An interrupt that comes before the worker is there still counts."""

        def interrupt(supervisor: Supervisor) -> None:
            supervisor.interrupt()

        with Site(WEB.routes) as site:
            ear = Ear()
            async with home_in(tmp_path, ear) as home:
                crawled = await crawl_in(home, ear, plan([site.url("/")]), interrupt)
            assert site.log == []
        assert crawled.report.stop is StopReason.INTERRUPTED
        assert crawled.report.job.state is JobState.PROCESSING

    @waits
    async def test_a_lease_is_given_back(self, tmp_path: Path) -> None:
        """After an interrupt the host is free after its delay, not after its lease."""

        def act(_: DataDirectory, supervisor: Supervisor) -> None:
            supervisor.interrupt()
            supervisor.interrupt()

        with Site({"/": page("home", "/slow"), "/slow": _slow}) as site:
            await watched(tmp_path, site, act, after=3)
            rest = await crawl_seeds(tmp_path, site.url("/"), resume=True)
        assert rest.report.stop is StopReason.DONE
        assert rest.report.seconds < 5


@waits
async def test_what_comes_under_a_lost_lease_is_not_written(tmp_path: Path) -> None:
    """A worker that slept past its lease finds its page settled by another: kept once, and told."""
    config = CrawlConfig(politeness=Politeness(delay_s=0.0), limits=Limits(max_pages=0))
    answers: Iterator[Answer] = iter([_slow(None), page("quick")])

    with Site({"/": lambda _: next(answers)}) as site:
        async with hand_in(tmp_path) as hand:
            job = await hand.start([site.url("/")], config)
            async with asyncio.TaskGroup() as group:
                group.create_task(hand.worker(job).run())
                await until(lambda: len(paths(site.log)) == 1)
                hand.clock.advance(1000)
            job = await hand.job(job)
            rows = await hand.store.pages.feed(job.id, after=0, limit=10)
            (told,) = hand.ear.of(PageSettled)
            assert any("lost" in warning for warning in hand.ear.warnings)
        assert paths(site.log) == ["/", "/"]
    assert (job.stats.settled, job.stats.collected, len(rows)) == (1, 1, 1)
    assert told.bytes_received > 0


@waits
async def test_a_request_cut_off_at_its_last_byte_leaves_no_connection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer is whole and nobody is left to take it: the connection is closed all the same."""
    asking: list[asyncio.Task[Fetched]] = []
    finished: list[Connection] = []
    finish = Connection._finish

    def cut_off(connection: Connection) -> None:
        finish(connection)
        finished.append(connection)
        asking[0].cancel()

    monkeypatch.setattr(Connection, "_finish", cut_off)
    with Site({"/": page("home")}) as site:
        url = parse(site.url("/"))
        assert url is not None
        async with hand_in(tmp_path) as hand:
            request = build(url.href, CrawlConfig(), version="0")
            asking.append(asyncio.create_task(hand.fetcher.fetch(request)))
            with pytest.raises(asyncio.CancelledError):
                await asking[0]
            was_open = finished[0].is_open
            finished[0].close()
        assert not was_open


def _slow(_: Seen | None) -> Raw:
    body = page("slow").body
    head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n\r\n"
    return Raw((head.encode(), 0.3, body))


@waits
async def test_two_crawls_of_one_process_share_a_directory(tmp_path: Path) -> None:
    """Each is a job of its own; neither locks the other out."""
    with Site(WEB.routes) as one, Site(WEB.routes, address="127.0.0.2") as two:
        seeds = [one.url("/"), two.url("/")]
        ear = Ear()
        async with home_in(tmp_path, ear) as home, asyncio.TaskGroup() as group:
            running = [
                group.create_task(crawl_in(home, ear, plan([seed], delay=0.01))) for seed in seeds
            ]
        both = [task.result() for task in running]
    assert [crawled.report.job.stats.collected for crawled in both] == [40, 40]
    assert list((tmp_path / "workers").iterdir()) == []


def test_a_job_has_one_supervisor(tmp_path: Path) -> None:
    """Two would write its outputs over one another; the second is told and fetches nothing."""
    with Site({"/": page("home", "/a"), "/a": page("a")}) as site:
        crawled = crawl_site(tmp_path, site.url("/"), max_pages=1)
        with (
            PresenceLock(tmp_path, f"job-{crawled.report.job.id}"),
            pytest.raises(StoreBusy, match="is in use by another geomi process"),
        ):
            crawl_site(tmp_path, site.url("/"), resume=True, max_pages=9)
        assert paths(site.log) == ["/"]


class TestWiderRules:
    """A job that goes on under wider rules takes what the old ones kept out, nothing twice."""

    @pytest.mark.parametrize(
        ("before", "after", "found"),
        [
            ({"depth": 1}, {"depth": 5}, ["/a", "/a/b", "/a/b/c", "/x"]),
            (
                {"exclude": ("/x",)},
                {"assignments": ["scope.exclude="]},
                ["/a", "/a/b", "/a/b/c", "/x"],
            ),
            ({"include": ("/a",)}, {"include": ("/**",)}, ["/a", "/a/b", "/a/b/c", "/x"]),
        ],
    )
    def test_links_of_pages_that_are_here_are_judged_anew(
        self, tmp_path: Path, before: dict[str, Any], after: dict[str, Any], found: list[str]
    ) -> None:
        routes = {
            "/": page("home", "/a", "/x"),
            "/a": page("a", "/a/b"),
            "/a/b": page("b", "/a/b/c"),
            "/a/b/c": page("c"),
            "/x": page("x"),
        }
        with Site(routes) as site:
            first = crawl_site(tmp_path, site.url("/"), **before)
            again = crawl_site(tmp_path, site.url("/"), resume=True, **after)
            asked = Counter(paths(site.log))
        assert len(first.urls) < len(again.urls)
        assert sorted(url.removeprefix(site.url("")) for url in again.urls) == ["/", *found]
        assert set(asked.values()) == {1}
        assert again.report.job.stats.collected == len(again.urls)
