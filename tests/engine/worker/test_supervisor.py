"""Workers that die are replaced, a few times; what fails is told as one error."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from geomi.adapters.machine.processes import LocalWorkerHandle
from geomi.app import DataDirectory, crawl
from geomi.app.recovery import recover
from geomi.engine import jobs
from geomi.engine.worker import supervisor as supervising
from geomi.engine.worker.supervisor import MAX_RESTARTS, Supervisor, WorkerHandle
from geomi.errors import ConfigError, GeomiError, StoreError, StoreFull
from geomi.model.event import JobEnded, JobStarted
from geomi.model.job import CrawlJob, JobState, StopReason
from tests.support.crawl import (
    Ear,
    crawl_site,
    home_in,
    page,
    paths,
    plan,
    start_in,
    worker_in,
)
from tests.support.server import Site
from tests.support.waiting import waits
from tests.support.webs import random_web

WEB = random_web(21, pages=15)


@dataclass(eq=False)
class FakeHand:
    """A worker that does what its script says: a reason to end, or None for a sudden death."""

    owner: str
    script: Callable[[], StopReason | None]
    told: list[str] = field(default_factory=list)
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    async def wait(self) -> StopReason | None:
        """End when the script says so."""
        await asyncio.sleep(0)
        return self.script()

    def drain(self) -> None:
        """Note that it was told to finish."""
        self.told.append("drain")
        self.ended.set()

    def abandon(self) -> None:
        """Note that it was told to end now."""
        self.told.append("abandon")


@dataclass(eq=False)
class WaitingHand(FakeHand):
    """A worker that ends only when it is told to."""

    async def wait(self) -> StopReason | None:
        """Wait to be told."""
        await self.ended.wait()
        return self.script()


class Crew:
    """Hires hands that follow scripts, in turn."""

    def __init__(self, *scripts: StopReason | GeomiError | None, kind: type[FakeHand] = FakeHand):
        self.hands: list[FakeHand] = []
        self._scripts = list(scripts)
        self._kind = kind
        self.is_full = asyncio.Event()

    def hire(self) -> FakeHand:
        """Hire the next one."""
        hand = self._kind(f"w-{len(self.hands)}", self._next)
        self.hands.append(hand)
        if len(self.hands) == 2:
            self.is_full.set()
        return hand

    def _next(self) -> StopReason | None:
        word = self._scripts.pop(0) if len(self._scripts) > 1 else self._scripts[0]
        if isinstance(word, GeomiError):
            raise word
        return word


async def start(home: DataDirectory, seeds: Sequence[str]) -> CrawlJob:
    """Start a job."""
    return await start_in(home, plan(seeds))


@waits
async def test_a_dead_worker_is_replaced_and_its_hosts_are_freed(tmp_path: Path) -> None:
    """The next worker goes on at once with what the dead one held."""
    with Site(WEB.routes) as site:
        url = site.url("/")
        ear = Ear()
        async with home_in(tmp_path, ear) as home:
            job = await start(home, [url])
            world = home.world
            now_s = world.clock.now_s()
            (lease,) = await world.store.frontier.claim(
                job.id, owner="w-dead", hosts=5, urls=10, lease_s=900, now_s=now_s, wall_s=0.0
            )
            assert len(lease.entries) == 1

            hands: list[WorkerHandle] = [
                FakeHand("w-dead", lambda: None),
                LocalWorkerHandle(
                    world.owner,
                    worker_in(home, job),
                ),
            ]
            supervisor = Supervisor(world, home.heart, job, lambda: hands.pop(0), [])
            report = await supervisor.run(workers=1, resumed=False)
        assert report.stop is StopReason.DONE
        assert report.job.stats.collected == 15
        assert report.seconds < 10
        assert any("w-dead died" in warning for warning in ear.warnings)
        assert len(paths(site.log)) == 15


@waits
async def test_it_gives_up_after_so_many_deaths(tmp_path: Path) -> None:
    """One plain error, one worker more than may be replaced, and a job that can be resumed."""
    ear, crew = Ear(), Crew(None)
    async with home_in(tmp_path, ear) as home:
        job = await start(home, ["http://a.test/"])
        with pytest.raises(GeomiError, match="the supervisor stops") as caught:
            supervisor = Supervisor(home.world, home.heart, job, crew.hire, [])
            await supervisor.run(workers=1, resumed=False)
        kept = await jobs.find(home.world, job.id)
    assert "--resume" in caught.value.hint
    assert len(crew.hands) == MAX_RESTARTS + 1
    assert (kept.state, kept.stop) == (JobState.PROCESSING, StopReason.FAILED)
    assert "the supervisor stops" in kept.error


@waits
async def test_it_goes_on_over_deaths_that_are_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pages that kill are isolated one by one; only where all seem to kill, it gives up, too."""
    monkeypatch.setattr(supervising, "MAX_EXPLAINED", most := 3 * MAX_RESTARTS)
    for deaths in (most, most + 1):
        crew, asked = Crew(*[None] * deaths, StopReason.INTERRUPTED), list[str]()

        async def explain(owner: str, asked: list[str] = asked) -> bool:
            asked.append(owner)
            return True

        async with home_in(tmp_path, Ear()) as home:
            job = await start(home, [f"http://{deaths}.test/"])
            crawl = Supervisor(home.world, home.heart, job, crew.hire, [], explain=explain)
            if deaths == most:
                report = await crawl.run(workers=1, resumed=False)
                assert report.stop is StopReason.INTERRUPTED
            else:
                with pytest.raises(GeomiError, match=f"workers died {deaths} times"):
                    await crawl.run(workers=1, resumed=False)
        assert asked == [hand.owner for hand in crew.hands[:deaths]]


@pytest.mark.parametrize(
    ("error", "stop"),
    [
        (StoreFull("no space left"), StopReason.DISK_FULL),
        (StoreError("broken"), StopReason.FAILED),
    ],
)
@waits
async def test_an_error_of_a_worker_is_raised_as_itself(
    tmp_path: Path, error: GeomiError, stop: StopReason
) -> None:
    """A surface catches `GeomiError`, not a group; the job says why and can be resumed."""
    crew = Crew(error)
    async with home_in(tmp_path, Ear()) as home:
        job = await start(home, ["http://a.test/"])
        with pytest.raises(type(error)) as caught:
            supervisor = Supervisor(home.world, home.heart, job, crew.hire, [])
            await supervisor.run(workers=2, resumed=False)
        kept = await jobs.find(home.world, job.id)
    assert caught.value is error
    assert (kept.state, kept.stop, kept.error) == (JobState.PROCESSING, stop, error.message)


@waits
async def test_a_worker_that_dies_of_an_interrupt_is_not_replaced(tmp_path: Path) -> None:
    """A process that is told to end before it can listen just dies: that is what was wanted."""
    crew = Crew(None, kind=WaitingHand)
    async with home_in(tmp_path, Ear()) as home:
        job = await start(home, ["http://a.test/"])
        supervisor = Supervisor(home.world, home.heart, job, crew.hire, [])
        async with asyncio.TaskGroup() as group:
            running = group.create_task(supervisor.run(workers=2, resumed=False))
            await crew.is_full.wait()
            assert supervisor.interrupt() is False
        report = running.result()
    assert [hand.told for hand in crew.hands] == [["drain"], ["drain"]]
    assert report.stop is StopReason.INTERRUPTED
    assert report.job.state is JobState.PROCESSING


@waits
async def test_the_reason_that_says_most_is_told(tmp_path: Path) -> None:
    """One worker found nothing left, another met the limit: the limit is the job's reason."""
    ear, crew = Ear(), Crew(StopReason.DONE, StopReason.MAX_PAGES)
    async with home_in(tmp_path, ear) as home:
        job = await start(home, ["http://a.test/"])
        supervisor = Supervisor(home.world, home.heart, job, crew.hire, [])
        report = await supervisor.run(workers=2, resumed=True)
    assert report.stop is StopReason.MAX_PAGES
    assert [event.resumed for event in ear.of(JobStarted)] == [True]
    assert [event.stop for event in ear.of(JobEnded)] == ["max_pages"]


class TestNothingReached:
    """A crawl that got nowhere says what kept it (exit 5)."""

    def test_a_refused_connection(self, tmp_path: Path) -> None:
        """The start URL and its failure are named."""
        with Site({}) as site:
            gone = site.url("/")
        crawled = crawl_site(tmp_path, gone, assignments=["http.max_retries=0"])
        assert crawled.report.nothing_reached.startswith(f"{gone}: connect_error: ")

    @pytest.mark.parametrize("status", [404, 403])
    def test_an_answer_is_something(self, tmp_path: Path, status: int) -> None:
        """A server that says no was reached."""
        with Site({}, otherwise=replace(page("no"), status=status)) as site:
            crawled = crawl_site(tmp_path, site.url("/"))
        assert crawled.report.nothing_reached == ""


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ({"header": ("Cookie: a=b",)}, "Cookie"),
        ({"header": ("Bad name: a=b",)}, "Bad name"),
        ({"user_agent": "a b c"}, "product token"),
    ],
)
@pytest.mark.parametrize("resume", [False, True])
@waits
async def test_what_cannot_be_sent_is_refused_before_anything_starts(
    tmp_path: Path, flags: dict[str, Any], message: str, resume: bool
) -> None:
    """A resumed job is checked like a new one, and a refused one is not created."""
    with Site(WEB.routes) as site:
        url = site.url("/")
        ear = Ear()
        async with home_in(tmp_path, ear) as home:
            if resume:
                await crawl(home, plan([url], max_pages=1))
            before = len(await home.world.store.jobs.list(limit=10))
            with pytest.raises(ConfigError, match=message):
                await crawl(home, plan([url], resume=resume, **flags))
            assert len(await home.world.store.jobs.list(limit=10)) == before
        assert len(site.log) == (2 if resume else 0)


@waits
async def test_a_lease_from_another_machine_s_disk_ends_at_the_next_start(tmp_path: Path) -> None:
    """A restored backup brings leases whose owners never were here."""
    async with home_in(tmp_path, Ear()) as home:
        for host, owner in (("a.test:80", "w-elsewhere"), ("b.test:80", home.world.owner)):
            await home.world.store.frontier.reserve(
                "", host, owner=owner, lease_s=150, delay_s=0, now_s=home.world.clock.now_s()
            )
        assert len(home.store.lease_owners()) == 2
        await recover(home)
        after = home.store.lease_owners()
    assert len(after) == 1
    assert after != ["w-elsewhere"]


def test_nothing_is_reached_though_a_sitemap_was_given_as_well(tmp_path: Path) -> None:
    dead = "http://127.0.0.1:1"
    crawled = crawl_site(
        tmp_path,
        f"{dead}/",
        assignments=[f"scope.sitemap_urls={dead}/map.xml", "http.max_retries=0"],
    )
    assert crawled.report.nothing_reached.startswith(f"{dead}/: ")


def test_a_path_is_no_start_url(tmp_path: Path) -> None:
    """A browser would take its first name for a host."""
    with pytest.raises(ConfigError, match="names no host"):
        plan(["/docs/a"])
