"""Behind the crawls of every tenant: what they collected is understood, and can be found.

A job for a collection ends here: it is `finalizing` until its last page can be found, by words and
by vectors, and is completed then. Whoever else enriches the same store is no harm: each job's pages
are one process's duty at a time.
"""

from __future__ import annotations

import asyncio

from geomi.app.home import Home
from geomi.app.recover import recover
from geomi.app.shelf import Shelves, open_shelves
from geomi.engine import jobs
from geomi.engine.enrich.loop import enrich_follower, enrich_vectors, enrich_words
from geomi.engine.worker.heartbeat import with_heartbeat
from geomi.engine.worker.supervisor import job_ended_event
from geomi.engine.world import wait_for_event
from geomi.model.job import CrawlJob, JobFilter, JobState
from geomi.model.worker import WorkerRole
from geomi.service import tenants
from geomi.service.open import Service
from geomi.service.regain import Regaining

MOST_JOBS = 10_000
# How many of a tenant's newest jobs are looked at when the process begins: a job that was cancelled
# while nobody was here may have pages that wait.
LOOKED_BACK = 100
LOOK_S = 0.5


async def understand_for_all(home: Home, leave: asyncio.Event) -> None:
    """Understand what comes in for every tenant, until told to leave."""
    await recover(home)
    await home.heart.enrol(WorkerRole.WORKER)
    async with open_shelves(home) as shelves:
        await with_heartbeat(home.heart, _Understander(Service(home), shelves, leave).run())


class _Understander:
    """Goes round all jobs that may have something new."""

    def __init__(self, service: Service, shelves: Shelves, leave: asyncio.Event) -> None:
        self._service = service
        self._roster = service.home.store.roster
        self._shelves = shelves
        self._leave = leave
        self._regaining = Regaining(service, shelves)
        self._open: set[tuple[str, str]] = set()  # whose jobs had not ended at the last look

    async def run(self) -> None:
        await self._look_back()
        while not self._leave.is_set():
            if not await self._go_round():
                await wait_for_event(self._leave, LOOK_S)

    async def _look_back(self) -> None:
        for tenant in await tenants.every(self._service):
            jobs = self._service.desk(tenant.name).world.jobs
            recent = await jobs.page(JobFilter(), before="", limit=LOOKED_BACK)
            self._open |= {(tenant.name, job.id) for job in recent}
            if recent:  # or there is nothing that could have been lost
                await self._regaining.look(tenant.name)

    async def _go_round(self) -> int:
        """Look at each job once; return 0 where nothing was new."""
        now = [*await self._roster.active(MOST_JOBS), *await self._roster.finalizing(MOST_JOBS)]
        # One that has left the lists since may have brought something on its way out.
        before, self._open = self._open, set(now)
        done = 0
        for tenant, name in [*now, *sorted(before - self._open)]:
            if self._leave.is_set():
                break
            done += await self._look_at(self._service.desk(tenant).home, name)
        return done + await self._regaining.go_on(self._leave)

    async def _look_at(self, home: Home, name: str) -> int:
        world, shelf = home.world, self._shelves.of(home)
        job = await world.jobs.get(name)
        if job is None or not job.collection:
            return 0
        done = await enrich_words(world, shelf, job, self._leave)
        if job.state is JobState.FINALIZING and not done:
            await enrich_vectors(world, shelf, job, self._leave)
            if (
                not self._leave.is_set()
                and not await enrich_follower(world, shelf, job).is_behind()
            ):
                await self._complete(home, job)
        return done

    async def _complete(self, home: Home, job: CrawlJob) -> None:
        ended = await jobs.complete(home.world, job)
        if not ended.state.is_final or ended.stop is None:
            return
        self._open.discard((job.tenant, job.id))
        home.world.sink.emit(job_ended_event(ended, ended.stop, ended.active_s))
