"""An index that is gone is made again from what was crawled, one crawl at a time.

Backups do not hold it, and whoever deletes it loses nothing but time. A slip says that a tenant's
is being made again: whoever is killed on the way is followed by one that goes on. New crawls do not
wait for old ones.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass

from geomi.app.shelf import Shelves
from geomi.engine.enrich.loop import enrich_again, enrich_vectors, enrich_words, is_index_lost
from geomi.model.event import Warned
from geomi.model.index.document import DocumentFilter
from geomi.model.job import MAX_LISTED_JOBS, CrawlJob, JobFilter
from geomi.service.drawer import Drawer
from geomi.service.open import Desk, Service

DRAWER, SLIP = "losses", "index"


@dataclass(frozen=True, slots=True)
class Loss:
    """An index that was found to be gone."""

    found_at_s: float


class Regaining:
    """The crawls whose pages are put back where they are found, the newest of a tenant first."""

    def __init__(self, service: Service, shelves: Shelves) -> None:
        self._service = service
        self._shelves = shelves
        self._left: deque[tuple[str, str]] = deque()  # whose crawls, and which

    async def look(self, tenant: str) -> None:
        """See whether a tenant's index is gone, or was and is not whole yet."""
        desk = self._service.desk(tenant)
        world, shelf = desk.world, self._shelves.of(desk.home)
        lost, losses = await is_index_lost(world, shelf), _losses(desk)
        if not lost and await losses.get(SLIP) is None:
            return
        await losses.add(SLIP, Loss(desk.wall_s))
        left: list[str] = []
        async for job in _crawls(desk):
            # Nothing is put there before all are at their beginning, so that whoever is killed in
            # between is followed by one that finds the index lost as well.
            if lost and await _has_documents(desk, job):
                await enrich_again(world, shelf, only=job.id, is_lost=True)
            left.append(job.id)
        self._left += [(tenant, name) for name in left]
        told = f"the index of `{tenant}` is gone" if lost else f"the index of `{tenant}` was gone"
        hint = "until then less is found than was collected"
        world.sink.emit(Warned("", f"{told}; it is made again from {len(left)} crawls", hint))

    async def go_on(self, leave: asyncio.Event) -> int:
        """Put back the pages of one crawl, words before vectors; return 0 where none is left."""
        if not self._left:
            return 0
        tenant, name = self._left[0]
        desk = self._service.desk(tenant)
        world, shelf = desk.world, self._shelves.of(desk.home)
        job = await world.jobs.get(name)
        if job is not None:
            await enrich_words(world, shelf, job, leave)
            await enrich_vectors(world, shelf, job, leave)
        if not leave.is_set():
            self._left.popleft()
            if not any(whose == tenant for whose, _ in self._left):
                await _losses(desk).remove(SLIP)
        return 1


async def _has_documents(desk: Desk, job: CrawlJob) -> bool:
    """Say whether anything of a crawl was to be found: a collection that was deleted stays so."""
    return bool(await desk.world.documents.list(DocumentFilter(job=job.id), after="", limit=1))


async def _crawls(desk: Desk) -> AsyncIterator[CrawlJob]:
    """List all crawls of a tenant into collections, the newest first."""
    before = ""
    while listed := await desk.world.jobs.page(JobFilter(), before=before, limit=MAX_LISTED_JOBS):
        for job in listed:
            if job.collection:
                yield job
        before = listed[-1].id


def _losses(desk: Desk) -> Drawer[Loss]:
    return Drawer(desk.slips, DRAWER, Loss)
