"""Close visits in batches: first the bytes, then the transaction, then the events.

A page's bytes reach the archive before the transaction that points at them, and an event is
emitted only after its commit. So neither a pointer nor a log line is ahead of what is stored.
Commits one by one cost about a hundred times more than batches.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace

from geomi.engine.visit.endings import ClosedVisit
from geomi.engine.visit.links import LinkGate, link_value_of
from geomi.engine.visit.preview_text import spool_texts
from geomi.engine.visit.sitemap_copy import keep_sitemaps
from geomi.engine.world import World, wait_for_event
from geomi.model.entry import Batch, HostUpdate, Settled, Settlement
from geomi.model.event import PageSettled, Warned
from geomi.model.job import CrawlJob
from geomi.model.verdict import Outcome

MAX_BATCH = 32
MAX_WAITING = 128  # visits that may wait for a commit before the fetchers have to
# Long enough to gather about ten pages at 250 pages/s, short against any delay between requests.
LINGER_S = 0.04


class Settler:
    """Gathers the visits of one worker and closes them together."""

    def __init__(
        self, world: World, job: CrawlJob, gate: LinkGate, on_commit: Callable[[], None]
    ) -> None:
        self._world = world
        self._job = job.id
        self._sitemap_bytes = job.config.store.sitemap_bytes
        self._link_value = link_value_of(world, job.config)
        self._gate = gate
        self._on_commit = on_commit
        self._visits: list[ClosedVisit] = []
        self._hosts: list[HostUpdate] = []
        self._room = asyncio.Semaphore(MAX_WAITING)
        self._filled = asyncio.Event()
        self._full = asyncio.Event()
        self._is_closed = False
        self._is_flushing = False

    @property
    def is_idle(self) -> bool:
        """Whether everything handed over is committed."""
        return not (self._visits or self._hosts or self._is_flushing)

    async def put(self, visit: ClosedVisit) -> None:
        """Hand over a closed visit; waits while too many are on their way."""
        await self._room.acquire()
        self._visits.append(visit)
        self._filled.set()
        if len(self._visits) >= MAX_BATCH:
            self._full.set()

    def release(self, update: HostUpdate) -> None:
        """Hand back a host; it is free once everything paid to it is committed."""
        self._hosts.append(update)
        self._filled.set()

    def close(self) -> None:
        """Let `run` end after the last flush."""
        self._is_closed = True
        self._filled.set()
        self._full.set()

    async def run(self) -> None:
        """Flush until closed and empty."""
        while not (self._is_closed and self.is_idle):
            await self._filled.wait()
            await self._linger()
            self._filled.clear()
            await self._flush()

    async def _linger(self) -> None:
        await wait_for_event(self._full, LINGER_S)
        if not self._is_closed:
            self._full.clear()

    async def _flush(self) -> None:
        visits, hosts = self._visits, self._hosts
        if not visits and not hosts:
            return
        self._visits, self._hosts = [], []
        self._is_flushing = True
        settlements = await self._archived(visits)
        if self._link_value is not None:
            settlements = await self._link_value.settlements(settlements)
        batch = Batch(tuple(settlements), tuple(hosts), self._world.clock.wall_s())
        with self._world.meter.settlement():
            settled = await self._world.store.frontier.settle(batch)
        for _ in visits:
            self._room.release()
        self._is_flushing = False
        for visit, settlement in zip(visits, settlements, strict=True):
            if settlement.entry.host in settled.lost:
                continue
            self._remember(settlement, settled)
            self._tell(visit, settlement)
        for host in settled.lost:
            self._world.sink.emit(
                Warned(
                    self._job, f"the lease of `{host}` was lost; its pages will be visited again"
                )
            )
        self._world.meter.settled(len(visits))
        self._on_commit()

    def _remember(self, settlement: Settlement, settled: Settled) -> None:
        """Note what is in the store by now; what had no room may find some the next time."""
        found = settlement.discovered
        if settled.left_out:
            found = tuple(url for url in found if url.url_hash not in settled.left_out)
        self._gate.remember(found)

    async def _archived(self, visits: Sequence[ClosedVisit]) -> list[Settlement]:
        """Write the captures and point each settlement's page at its place.

        A whole text waits before anything points at its preview: one that nothing points at, after
        a fall, is gone when its time is over.
        """
        captures = [visit.capture for visit in visits if visit.capture is not None]
        await spool_texts(self._world, self._job, captures)
        files = [visit.sitemap for visit in visits if visit.sitemap is not None]
        if files:
            await keep_sitemaps(self._world, self._job, files, max_bytes=self._sitemap_bytes)
        places = iter(await self._world.archive.append(self._job, captures) if captures else ())
        settlements = []
        for visit in visits:
            settlement = visit.settlement
            if visit.capture is not None and settlement.page is not None:
                record, response = next(places)
                page = replace(settlement.page, record=record, response=response)
                settlement = replace(settlement, page=page)
            settlements.append(settlement)
        return settlements

    def _tell(self, visit: ClosedVisit, settlement: Settlement) -> None:
        if not visit.is_news:
            return
        if settlement.outcome is Outcome.TOO_LARGE:  # CTY-07
            detail = f"{settlement.entry.url} was skipped: {settlement.detail}"
            self._world.sink.emit(Warned(self._job, detail))
        self._world.sink.emit(
            PageSettled(
                job=self._job,
                url=settlement.entry.url,
                outcome=settlement.outcome,
                state=settlement.state,
                status=settlement.status,
                depth=settlement.entry.depth,
                bytes_received=settlement.bytes_received,
                fetch_ms=visit.fetch_ms,
                links=visit.links,
                detail=settlement.detail,
            )
        )
