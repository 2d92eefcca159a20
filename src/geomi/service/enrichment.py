"""Enrich the pages of every tenant's crawls and index them; rebuild a lost index.

A job for a collection ends here: it is `finalizing` until search finds its last page, by words and
by vectors, and then completed, by one of the processes that enrich it.

Backups do not have the index; its loss costs only time. A stored value says that a tenant's index
is being rebuilt, one crawl at a time, so that the next process continues. New crawls do not wait
for old ones.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass

from geomi.app.directory import DataDirectory
from geomi.app.index import SearchIndexes, open_search_indexes
from geomi.app.recovery import recover
from geomi.engine import jobs
from geomi.engine.enrich.loop import (
    enrich_again,
    enrich_vectors,
    enrich_words,
    is_index_lost,
    is_job_behind,
)
from geomi.engine.worker.heartbeat import with_heartbeat
from geomi.engine.worker.leader import Leadership
from geomi.engine.worker.supervisor import job_ended_event
from geomi.engine.world import wait_for_event
from geomi.model.event import Warned
from geomi.model.index.document import DocumentFilter
from geomi.model.job import MAX_LISTED_JOBS, CrawlJob, JobFilter, JobState
from geomi.model.worker import WorkerRole
from geomi.service.access import tenants
from geomi.service.service import Service, TenantService, ValueNamespace

MOST_JOBS = 10_000
# How many of a tenant's newest jobs are looked at when the process begins: a job that was cancelled
# while nobody was here may have pages that wait.
LOOKED_BACK = 100
LOOK_S = 0.5
LOST_NAMESPACE, LOST_NAME = "losses", "index"


async def enrich_for_all(home: DataDirectory, leave: asyncio.Event) -> None:
    """Enrich the pages of every tenant, until a signal ends it."""
    await recover(home)
    await home.heart.enrol(WorkerRole.WORKER)
    async with open_search_indexes(home) as search_indexes:
        await with_heartbeat(home.heart, _Enricher(Service(home), search_indexes, leave).run())


class _Enricher:
    """Goes round all jobs that may have something new."""

    def __init__(
        self, service: Service, search_indexes: SearchIndexes, leave: asyncio.Event
    ) -> None:
        self._service = service
        self._roster = service.home.store.roster
        self._search_indexes = search_indexes
        self._leave = leave
        self._regaining = IndexRebuild(service, search_indexes)
        self._open: set[tuple[str, str]] = set()  # whose jobs had not ended at the last look

    async def run(self) -> None:
        await self._look_back()
        while not self._leave.is_set():
            if not await self._go_round():
                await wait_for_event(self._leave, LOOK_S)

    async def _look_back(self) -> None:
        for tenant in await tenants.every(self._service):
            jobs = self._service.desk(tenant.name).world.store.jobs
            recent = await jobs.page(JobFilter(), before="", limit=LOOKED_BACK)
            self._open |= {(tenant.name, job.id) for job in recent}
            if recent:  # or there is nothing that could have been lost
                await self._regaining.look(tenant.name)

    async def _go_round(self) -> int:
        """Enrich each job once; return 0 if nothing was new."""
        now = [*await self._roster.active(MOST_JOBS), *await self._roster.finalizing(MOST_JOBS)]
        # One that has left the lists since may have brought something on its way out.
        before, self._open = self._open, set(now)
        done = 0
        for tenant, name in [*now, *sorted(before - self._open)]:
            if self._leave.is_set():
                break
            done += await self._look_at(self._service.desk(tenant).home, name)
        return done + await self._regaining.go_on(self._leave)

    async def _look_at(self, home: DataDirectory, name: str) -> int:
        world, search_index = home.world, self._search_indexes.of(home)
        job = await world.store.jobs.get(name)
        if job is None or not job.collection:
            return 0
        done = await enrich_words(world, search_index, job, self._leave)
        if job.state is JobState.FINALIZING and not done:
            await enrich_vectors(world, search_index, job, self._leave)
            if not self._leave.is_set() and not await is_job_behind(world, search_index, job):
                await self._complete(home, job)
        return done

    async def _complete(self, home: DataDirectory, job: CrawlJob) -> None:
        """Complete a job, unless another process does; one of them tells of its end."""
        ending = Leadership(home.world, f"end of {job.id}")
        if not await ending.take():
            return
        try:
            found = await home.world.store.jobs.get(job.id)
            if found is None or found.state is not JobState.FINALIZING:
                return
            ended = await jobs.complete(home.world, found)
        finally:
            await ending.drop()
        if not ended.state.is_final or ended.stop is None:
            return
        self._open.discard((job.tenant, job.id))
        home.world.sink.emit(job_ended_event(ended, ended.stop, ended.active_s))


@dataclass(frozen=True, slots=True)
class LostIndex:
    """An index that was found to be gone."""

    found_at_s: float


class IndexRebuild:
    """The crawls whose pages are put back where they are found, the newest of a tenant first."""

    def __init__(self, service: Service, search_indexes: SearchIndexes) -> None:
        self._service = service
        self._search_indexes = search_indexes
        self._left: deque[tuple[str, str]] = deque()  # whose crawls, and which

    async def look(self, tenant: str) -> None:
        """See whether a tenant's index is gone, or was and is not whole yet; one process looks."""
        desk = self._service.desk(tenant)
        leading = Leadership(desk.world, f"index of {tenant}")
        if await leading.take():
            await self._look(desk, tenant)
            await leading.drop()

    async def _look(self, desk: TenantService, tenant: str) -> None:
        world, search_index = desk.world, self._search_indexes.of(desk.home)
        lost, losses = await is_index_lost(world, search_index), _losses(desk)
        if not lost and await losses.get(LOST_NAME) is None:
            return
        await losses.add(LOST_NAME, LostIndex(desk.wall_s))
        left: list[str] = []
        async for job in _crawls(desk):
            # Nothing is put there before all are at their beginning, so that whoever is killed in
            # between is followed by one that finds the index lost as well.
            if lost and await _has_documents(desk, job):
                await enrich_again(world, search_index, only=job.id, is_lost=True)
            left.append(job.id)
        self._left += [(tenant, name) for name in left]
        told = f"the index of `{tenant}` {'is' if lost else 'was'} lost"
        hint = "until then search does not find all collected pages"
        world.sink.emit(Warned("", f"{told}; geomi fills it again from {len(left)} crawls", hint))

    async def go_on(self, leave: asyncio.Event) -> int:
        """Put back the pages of one crawl, words before vectors; return 0 where none is left."""
        if not self._left:
            return 0
        tenant, name = self._left[0]
        desk = self._service.desk(tenant)
        world, search_index = desk.world, self._search_indexes.of(desk.home)
        job = await world.store.jobs.get(name)
        if job is not None:
            done = await enrich_words(world, search_index, job, leave)
            await enrich_vectors(world, search_index, job, leave)
            if not leave.is_set() and await is_job_behind(world, search_index, job):
                self._left.rotate(-1)  # another process has some of its pages in hand
                return done
        if not leave.is_set():
            self._left.popleft()
            if not any(whose == tenant for whose, _ in self._left):
                await _losses(desk).remove(LOST_NAME)
        return 1


async def _has_documents(desk: TenantService, job: CrawlJob) -> bool:
    """Say whether anything of a crawl was to be found: a collection that was deleted stays so."""
    return bool(
        await desk.world.store.documents.list(DocumentFilter(job=job.id), after="", limit=1)
    )


async def _crawls(desk: TenantService) -> AsyncIterator[CrawlJob]:
    """List all crawls of a tenant into collections, the newest first."""
    before = ""
    while listed := await desk.world.store.jobs.page(
        JobFilter(), before=before, limit=MAX_LISTED_JOBS
    ):
        for job in listed:
            if job.collection:
                yield job
        before = listed[-1].id


def _losses(desk: TenantService) -> ValueNamespace[LostIndex]:
    return ValueNamespace(desk.named_values, LOST_NAMESPACE, LostIndex)
