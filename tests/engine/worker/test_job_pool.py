"""Workers that serve every job of a store: a share each, one end each, and nothing for the dead."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from geomi.app import DataDirectory, crawl, start_detached
from geomi.app.recovery import check_sent, recover
from geomi.engine import jobs
from geomi.engine.worker.job_pool import JobPool
from geomi.engine.worker.leader import job_leadership
from geomi.engine.worker.supervisor import UploadState
from geomi.errors import ConfigError, StoreBusy, StoreFull
from geomi.model.event import JobEnded, PageSettled
from geomi.model.job import CrawlJob, JobState, StopReason
from geomi.model.worker import WorkerCard, WorkerRole
from geomi.processes.crawl import WorkerTask, serve_jobs
from geomi.settings.options import Settings
from tests.support.crawl import (
    LOCAL,
    Ear,
    crawl_seeds,
    home_in,
    plan,
    read_records,
)
from tests.support.postgres import Cluster
from tests.support.server import Site
from tests.support.waiting import waits
from tests.support.webs import random_web

WEB = random_web(41, pages=20)
QUICK = replace(LOCAL, silence_s=1.0)
ONCE = WorkerTask(once=True)


@pytest.fixture
def shared(cluster: Cluster) -> Settings:
    """Return the settings of a store that machines share."""
    return replace(QUICK, db=cluster.new_schema())


async def begin_jobs(home: DataDirectory, *sites: Site, **options: Any) -> list[CrawlJob]:
    """Begin a job for each site and leave it to workers."""
    return [await start_detached(home, plan([site.url("/")], **options)) for site in sites]


async def serve_until_done(home: DataDirectory, settings: Settings | None = None) -> Ear:
    """Serve with a second process's world, as another worker of the directory would."""
    ear = Ear()
    async with home_in(home.root, ear, settings or home.settings) as other:
        await serve_jobs(other, ONCE)
    return ear


async def until(is_so: Callable[[], bool]) -> None:
    """Look until something is so; whoever runs the test says for how long."""
    while not is_so():  # noqa: ASYNC110  # nothing tells us
        await asyncio.sleep(0.01)


async def put_off(home: DataDirectory, *, retries: int) -> None:
    """Look until visits of the newest job were put off so often."""
    while (await jobs.find(home.world, "latest")).stats.retries < retries:  # noqa: ASYNC110
        await asyncio.sleep(0.01)


def card_of(home: DataDirectory, owner: str, **changes: Any) -> WorkerCard:
    """Return the card of a worker of another machine."""
    now_s = home.world.clock.now_s()
    card = WorkerCard(owner, "elsewhere", "/data", 7, WorkerRole.WORKER, "1", now_s, now_s, 1.0)
    return replace(card, **changes)


@waits
async def test_all_jobs_are_served_and_each_is_ended(tmp_path: Path) -> None:
    with Site(WEB.routes) as one, Site(WEB.routes, address="127.0.0.2") as two:
        sites = [one, two]
        ear = Ear()
        async with home_in(tmp_path, ear, QUICK) as home:
            begun = await begin_jobs(home, *sites)
            told = await serve_until_done(home)
            assert await home.world.store.workers.list() == []
            for job in begun:
                found = await jobs.find(home.world, job.id)
                assert (found.state, found.stop) == (JobState.COMPLETED, StopReason.DONE)
                assert found.stats.collected == len(WEB.reachable)
                assert found.active_s >= 0
        assert sorted(event.job for event in told.of(JobEnded)) == sorted(job.id for job in begun)


@waits
async def test_jobs_share_the_requests_in_flight(tmp_path: Path) -> None:
    """A job of many hosts does not keep a job of one host waiting."""
    sites = [Site(WEB.routes, address=f"127.0.0.{number}") for number in range(3, 9)]
    with Site(WEB.routes, address="127.0.0.2") as small:
        for site in sites:
            site.__enter__()
        try:
            async with home_in(tmp_path, Ear(), QUICK) as home:
                many = await start_detached(
                    home, plan([site.url("/") for site in sites], delay=0.02)
                )
                (one,) = await begin_jobs(home, small, delay=0.02)
                ear = Ear()
                async with home_in(home.root, ear, QUICK) as other:
                    await serve_jobs(other, WorkerTask(once=True, concurrency=4))
                order = [event.job for event in ear.of(PageSettled)]
                assert order.count(many.id) == len(sites) * len(WEB.reachable)
                places = [number for number, job in enumerate(order) if job == one.id]
                assert median(places) < len(order) * 0.8, "it did not come last"
        finally:
            for site in sites:
                site.__exit__(None, None, None)


@waits
async def test_more_jobs_than_places_take_turns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("geomi.engine.worker.job_pool.SLICE_S", 0.1)

    with Site(WEB.routes) as one, Site(WEB.routes, address="127.0.0.2") as two:
        sites = [one, two]
        async with home_in(tmp_path, Ear(), QUICK) as home:
            begun = await begin_jobs(home, *sites, delay=0.02)
            ear = Ear()
            async with home_in(home.root, ear, QUICK) as other:
                await serve_jobs(other, WorkerTask(once=True, concurrency=1))
            order = [event.job for event in ear.of(PageSettled)]
            assert {order.count(job.id) for job in begun} == {len(WEB.reachable)}
            turns = sum(one != two for one, two in pairwise(order))
            assert turns >= len(begun), "nobody was served to the end before the others began"


@waits
async def test_a_drained_worker_gives_everything_back_and_leaves(tmp_path: Path) -> None:
    with Site(WEB.routes) as site:
        async with home_in(tmp_path, Ear(), QUICK) as home:
            (job,) = await begin_jobs(home, site, delay=0.05)
            ear, shifts = Ear(), list[JobPool]()
            async with home_in(home.root, ear, QUICK) as other, asyncio.TaskGroup() as group:
                serving = group.create_task(serve_jobs(other, WorkerTask(), on_start=shifts.append))
                await until(lambda: len(ear.of(PageSettled)) >= 3)
                assert shifts[0].interrupt() is False
                await serving
            found = await jobs.find(home.world, job.id)
            outlook = await home.world.store.census.outlook(job.id, now_s=home.world.clock.now_s())
            assert (found.state, outlook.leased) == (JobState.PROCESSING, 0)
            assert await home.world.store.workers.list() == []
            await serve_until_done(home)
            assert (await jobs.find(home.world, job.id)).state is JobState.COMPLETED
        assert len({seen.path for seen in site.log}) == len(site.log), "nothing was asked twice"


@waits
async def test_a_job_whose_starter_died_is_ended_by_a_worker(
    tmp_path: Path, shared: Settings
) -> None:
    """Its duty passes when its holder is silent; nobody ends a job that is answered for."""
    with Site(WEB.routes) as site:
        async with home_in(tmp_path, Ear(), shared) as home:
            world = home.world
            (job,) = await begin_jobs(home, site)
            await world.store.workers.enrol(card_of(home, "w-starter", silence_s=600.0))
            now_s = world.clock.now_s()
            await world.store.workers.take(
                f"job {job.id}", owner="w-starter", until_s=now_s + 600, now_s=now_s
            )
            told = await serve_until_done(home)
            assert told.of(JobEnded) == []
            assert (await jobs.find(world, job.id)).state is JobState.PROCESSING
            await world.store.workers.enrol(card_of(home, "w-starter", beat_s=now_s - 60))
            told = await serve_until_done(home)
            assert [event.job for event in told.of(JobEnded)] == [job.id]
            assert (await jobs.find(world, job.id)).state is JobState.COMPLETED


@waits
async def test_a_job_that_somebody_runs_is_not_run_twice(tmp_path: Path) -> None:
    with Site(WEB.routes) as site:
        async with home_in(tmp_path, Ear(), QUICK) as home:
            (job,) = await begin_jobs(home, site)
            now_s = home.world.clock.now_s()
            duty = job_leadership(home.world, job.id)
            await home.world.store.workers.take(
                f"job {job.id}", owner="w-other", until_s=now_s + 60, now_s=now_s
            )
            assert not await duty.take()
            with pytest.raises(StoreBusy, match="is supervised by w-other"):
                await crawl(home, plan([site.url("/")], resume=True))
        assert site.log == []


@waits
async def test_a_resume_writes_the_outputs_of_a_job_that_workers_ended(tmp_path: Path) -> None:
    with Site(WEB.routes) as site:
        async with home_in(tmp_path, Ear(), QUICK) as home:
            await begin_jobs(home, site)
            await serve_until_done(home)
        assert read_records(tmp_path) == []
        asked = len(site.log)
        crawled = await crawl_seeds(tmp_path, site.url("/"), resume=True, format="jsonl,llms")
        assert len(site.log) == asked
    assert len(crawled.records) == len(WEB.reachable)
    assert (tmp_path / "llms.txt").exists()


@waits
async def test_a_job_of_another_network_is_left_to_others(tmp_path: Path) -> None:
    with Site(WEB.routes) as site:
        async with home_in(tmp_path, Ear(), QUICK) as home:
            (job,) = await begin_jobs(home, site)
            told = await serve_until_done(home, replace(QUICK, allow_private=False))
            assert [text for text in told.warnings if "--allow-private" in text]
            with pytest.raises(ConfigError, match="--allow-private"):
                async with home_in(home.root, Ear(), replace(QUICK, allow_private=False)) as other:
                    await serve_jobs(other, WorkerTask(job=job.id, once=True))
        assert site.log == []


@pytest.mark.req("HTTP-17")
@waits
async def test_a_worker_may_serve_one_job_alone(tmp_path: Path) -> None:
    """Near its sites, for instance; what others began is not touched."""
    with Site(WEB.routes) as one, Site(WEB.routes, address="127.0.0.2") as two:
        sites = [one, two]
        async with home_in(tmp_path, Ear(), QUICK) as home:
            near, far = await begin_jobs(home, *sites)
            async with home_in(home.root, Ear(), QUICK) as other:
                await serve_jobs(other, WorkerTask(job=near.id, once=True))
            assert (await jobs.find(home.world, near.id)).state is JobState.COMPLETED
            assert (await jobs.find(home.world, far.id)).state is JobState.PROCESSING
        assert two.log == []


@waits
async def test_a_full_disk_ends_the_worker_and_not_the_job(tmp_path: Path) -> None:
    with Site(WEB.routes) as site:
        async with home_in(tmp_path, Ear(), QUICK) as home:
            (job,) = await begin_jobs(home, site)
            with pytest.raises(StoreFull):
                await serve_until_done(home, replace(QUICK, min_free_bytes=1 << 60))
            assert (await jobs.find(home.world, job.id)).state is JobState.PROCESSING


class TestTheDead:
    """Those of other machines are known by their silence alone."""

    @waits
    async def test_leases_of_a_silent_worker_end_and_its_card_goes(
        self, tmp_path: Path, shared: Settings
    ) -> None:
        with Site(WEB.routes) as site:
            async with home_in(tmp_path, Ear(), shared) as home:
                world = home.world
                (job,) = await begin_jobs(home, site)
                now_s = world.clock.now_s()
                await world.store.workers.enrol(card_of(home, "w-dead", beat_s=now_s - 60))
                await world.store.workers.enrol(card_of(home, "w-alive"))
                (lease,) = await world.store.frontier.claim(
                    job.id, owner="w-dead", hosts=1, urls=1, lease_s=900, now_s=now_s, wall_s=0.0
                )
                await recover(home)
                assert len(await world.store.workers.list()) == 2, "a silence has to be heard"
                await asyncio.sleep(0.4)
                await world.store.workers.beat(
                    "w-alive", jobs=(), pages=0, pages_per_s=0.0, now_s=world.clock.now_s()
                )
                await recover(home)
                assert [card.owner for card in await world.store.workers.list()] == ["w-alive"]
                assert (
                    await world.store.frontier.renew(
                        [lease], lease_s=900, now_s=world.clock.now_s()
                    )
                    == []
                )

    @waits
    async def test_a_worker_that_was_taken_for_dead_comes_back(self, tmp_path: Path) -> None:
        with Site(WEB.routes) as site:
            async with home_in(tmp_path, Ear(), QUICK) as home:
                await begin_jobs(home, site, delay=0.1)
                ear = Ear()
                async with home_in(home.root, ear, QUICK) as other, asyncio.TaskGroup() as group:
                    serving = group.create_task(serve_jobs(other, ONCE))
                    await until(lambda: bool(ear.of(PageSettled)))
                    (card,) = await home.world.store.workers.list()
                    await home.world.store.workers.leave([card.owner])
                    await until(lambda: any("counted as dead" in text for text in ear.warnings))
                    while not (found := await home.world.store.workers.list()):  # noqa: ASYNC110
                        await asyncio.sleep(0.01)
                    assert [one.owner for one in found] == [card.owner]
                    await serving

    @waits
    async def test_what_a_living_worker_has_not_sent_is_not_lost(
        self, tmp_path: Path, shared: Settings
    ) -> None:
        """It is waited for; when its worker is dead, its pages wait again and the job is open."""
        with Site(WEB.routes) as site:
            crawled = await crawl_seeds(tmp_path, site.url("/"), settings=shared)
        job = crawled.report.job
        (segment,) = (tmp_path / "jobs" / job.id / "warc").glob("*.warc.gz")
        owner = segment.name.rpartition("-")[0]
        segment.unlink()

        async with home_in(tmp_path, Ear(), shared) as home:
            await home.world.store.workers.enrol(card_of(home, owner))
            assert await check_sent(home, job.id) is UploadState.NOT_YET
            assert (await jobs.find(home.world, job.id)).state is JobState.COMPLETED
            await home.world.store.workers.leave([owner])
            assert await check_sent(home, job.id) is UploadState.LOST
            found = await jobs.find(home.world, job.id)
            assert (found.state, found.stats.collected) == (JobState.PROCESSING, 0)
            assert await check_sent(home, job.id) is UploadState.ALL


@waits
async def test_a_kept_page_whose_bytes_are_not_here_yet_is_expanded_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shared: Settings
) -> None:
    """Its links are followed when its worker has sent it, and nothing is fetched again for it."""
    monkeypatch.setattr("geomi.engine.visit.road.UNSENT_WAIT_S", 0.1)

    with Site(WEB.routes) as site:
        crawled = await crawl_seeds(tmp_path, site.url("/"), settings=shared, depth=1)
        assert len(crawled.records) < len(WEB.reachable)
        (segment,) = (tmp_path / "jobs" / crawled.report.job.id / "warc").glob("*.warc.gz")
        segment.rename(tmp_path / "aside")
        async with home_in(tmp_path, Ear(), shared) as home:
            owner = segment.name.rpartition("-")[0]
            await home.world.store.workers.enrol(card_of(home, owner, silence_s=600.0))
            async with asyncio.TaskGroup() as group:
                resumed = plan([site.url("/")], resume=True, depth=50)
                crawling = group.create_task(crawl(home, resumed))
                await put_off(home, retries=3)
                await asyncio.to_thread((tmp_path / "aside").rename, segment)
            assert crawling.result().job.stats.collected == len(WEB.reachable)
        assert len({seen.path for seen in site.log}) == len(site.log)


@waits
async def test_work_that_came_with_a_copy_of_a_file_is_nobodys(tmp_path: Path) -> None:
    """A file knows of its own directory alone: no lock there, nobody at work."""
    with Site(WEB.routes) as site:
        async with home_in(tmp_path, Ear(), QUICK) as home:
            (job,) = await begin_jobs(home, site)
            world, now_s = home.world, home.world.clock.now_s()
            await world.store.workers.enrol(card_of(home, "w-copied", silence_s=600.0))
            await world.store.workers.take(
                f"job {job.id}", owner="w-copied", until_s=now_s + 600, now_s=now_s
            )
            report = await crawl(home, plan([site.url("/")], resume=True))
            assert report.job.state is JobState.COMPLETED
