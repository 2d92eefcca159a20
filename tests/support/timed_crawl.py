"""A crawl whose time is turned by hand: real sites, real sockets, and hours that pass at once.

The hand is turned only when nothing is under way: no request in flight, and either somebody sleeps,
or every host was given back and the store says when the next one is due.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from geomi.adapters.blob.directory import DirectoryArchive
from geomi.adapters.blob.spool import DirectorySpool
from geomi.adapters.compute.child import ChildCompute
from geomi.adapters.http.client import HttpClient
from geomi.adapters.http.egress import Egress
from geomi.adapters.http.rules import EgressRules
from geomi.adapters.machine.disk import DirectoryDisk
from geomi.adapters.machine.vault import FernetVault
from geomi.engine import jobs
from geomi.engine.visit.rules import job_rules
from geomi.engine.worker.loop import Worker
from geomi.engine.world import World
from geomi.model.config import CrawlConfig
from geomi.model.entry import Batch, Discovered, Lease, RequestCap, Settled, UrlEntry
from geomi.model.job import Commission, CrawlJob, StopReason
from geomi.model.page import Fetched, Request
from geomi.ports.frontier import Frontier
from geomi.ports.web import Fetcher
from geomi.url.parse import parse
from tests.contracts.reference import MemoryStore, open_memory
from tests.support.clock import HandClock
from tests.support.crawl import Ear
from tests.support.stores import with_parts

TICK_S = 0.001
TENANT = "local"
ALLOWING = EgressRules(allow_private=True)


@dataclass(frozen=True)
class Asked:
    """One request, and when it began by the hand."""

    url: str
    at_s: float

    @property
    def path(self) -> str:
        """What the request line says."""
        url = parse(self.url)
        assert url is not None
        return url.target


@dataclass
class WatchedFetcher:
    """The real fetcher, with a note of every request."""

    inner: Fetcher
    clock: HandClock
    asked: list[Asked] = field(default_factory=list)
    in_flight: int = 0
    most_in_flight: int = 0

    async def fetch(self, request: Request) -> Fetched:
        """Send the request."""
        self.asked.append(Asked(request.url, self.clock.now_s()))
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            return await self.inner.fetch(request)
        finally:
            self.in_flight -= 1

    async def aclose(self) -> None:
        """Close every connection."""
        await self.inner.aclose()


@dataclass
class WatchedFrontier:
    """The store's frontier, with a note of which hosts are lent."""

    inner: Frontier
    lent: dict[str, int] = field(default_factory=dict)
    leases: int = 0

    async def add(self, job: str, urls: Sequence[Discovered], *, now_s: float) -> int:
        """Put URLs into a job's frontier."""
        return await self.inner.add(job, urls, now_s=now_s)

    async def reopen(self, job: str) -> int:
        """Let kept pages wait for their links."""
        return await self.inner.reopen(job)

    async def claim(
        self,
        job: str,
        *,
        owner: str,
        hosts: int,
        urls: int,
        lease_s: float,
        now_s: float,
        wall_s: float,
    ) -> list[Lease]:
        """Lend due hosts."""
        leases = await self.inner.claim(
            job,
            owner=owner,
            hosts=hosts,
            urls=urls,
            lease_s=lease_s,
            now_s=now_s,
            wall_s=wall_s,
        )
        self._note(leases)
        return leases

    async def reserve(
        self, job: str, host: str, *, owner: str, lease_s: float, delay_s: float, now_s: float
    ) -> Lease | float:
        """Lend one named host."""
        answer = await self.inner.reserve(
            job, host, owner=owner, lease_s=lease_s, delay_s=delay_s, now_s=now_s
        )
        self._note([answer] if isinstance(answer, Lease) else [])
        return answer

    async def renew(self, leases: Sequence[Lease], *, lease_s: float, now_s: float) -> list[Lease]:
        """Prolong leases."""
        return await self.inner.renew(leases, lease_s=lease_s, now_s=now_s)

    async def place(self, lease: Lease, ip: str, *, per_ip: int, now_s: float) -> bool:
        """Record the address behind a host."""
        return await self.inner.place(lease, ip, per_ip=per_ip, now_s=now_s)

    async def permit(self, caps: Sequence[RequestCap], *, now_s: float) -> float:
        """Take one request off the shared caps."""
        return await self.inner.permit(caps, now_s=now_s)

    async def settle(self, batch: Batch) -> Settled:
        """Close visits and hosts."""
        settled = await self.inner.settle(batch)
        for update in batch.hosts:
            if update.next_s is not None and self.lent.get(update.lease.host) == update.lease.token:
                del self.lent[update.lease.host]
        return settled

    def _note(self, leases: Sequence[Lease]) -> None:
        self.leases += len(leases)
        self.lent |= {lease.host: lease.token for lease in leases}


@dataclass
class Hand:
    """A world of one worker, and the hand of its clock."""

    clock: HandClock
    store: MemoryStore
    fetcher: WatchedFetcher
    frontier: WatchedFrontier
    world: World
    ear: Ear
    began_s: float

    async def start(self, seeds: Sequence[str], config: CrawlConfig) -> CrawlJob:
        """Start a job."""
        rules = job_rules(self.world, config, seeds)
        return await jobs.start(self.world, jobs.read_seeds(seeds), rules, Commission(TENANT))

    def worker(self, job: CrawlJob, *, concurrency: int = 10) -> Worker:
        """Make a worker of a job."""
        rules = job_rules(self.world, job.config, job.seeds)
        return Worker(self.world, job, rules, concurrency=concurrency)

    async def work(
        self, *given: CrawlJob, until: Callable[[], bool] = lambda: False
    ) -> list[StopReason]:
        """Run a worker for each job to its end while the hand turns; `until` drains them before."""
        workers = [self.worker(job) for job in given]
        async with asyncio.TaskGroup() as group:
            running = [group.create_task(worker.run()) for worker in workers]
            while not all(task.done() for task in running):
                await asyncio.sleep(TICK_S)
                if until():
                    for worker in workers:
                        worker.drain()
                else:
                    await self._turn([job.id for job in given])
        return [task.result() for task in running]

    async def crawl(self, config: CrawlConfig, *seeds: str) -> CrawlJob:
        """Crawl from some URLs to the end and return the job with its counters."""
        job = await self.start(seeds, config)
        await self.work(job)
        return await self.job(job)

    async def job(self, job: CrawlJob) -> CrawlJob:
        """Read a job again."""
        return await jobs.find(self.world, job.id)

    async def entries(self, job: CrawlJob) -> dict[str, UrlEntry]:
        """Return a job's entries by their request line."""
        found = await self.store.census.entries(job.id, state=None, after=b"", limit=10_000)
        return {Asked(entry.url, 0).path: entry for entry in found}

    def asked(self, path: str) -> list[float]:
        """Return when a path was asked for, in seconds since the beginning."""
        return [one.at_s - self.began_s for one in self.fetcher.asked if one.path == path]

    async def _turn(self, given: Sequence[str]) -> None:
        if self.fetcher.in_flight:
            return
        now_s = self.clock.now_s()
        wake_s = self.clock.next_wake_s
        if wake_s is None and not self.frontier.lent:
            outlooks = [await self.store.census.outlook(job, now_s=now_s) for job in given]
            times_s = [one.next_s for one in outlooks if one.pending and one.next_s is not None]
            wake_s = min(times_s, default=None)
        if wake_s is not None and wake_s > now_s:
            self.clock.advance(wake_s - now_s)


@asynccontextmanager
async def hand_in(
    root: Path, rules: EgressRules = ALLOWING, clock: HandClock | None = None
) -> AsyncIterator[Hand]:
    """Open a world in memory, with its archive in a directory."""
    clock, ear = clock or HandClock(), Ear()
    store = open_memory(TENANT)
    egress = Egress(rules, clock)
    fetcher = WatchedFetcher(HttpClient(egress, clock), clock)
    frontier = WatchedFrontier(store.frontier)
    archive = DirectoryArchive(root, worker="w-hand", software="geomi/0")
    compute = ChildCompute()
    world = World(
        clock=clock,
        fetcher=fetcher,
        resolver=egress,
        store=with_parts(store, frontier=frontier),
        archive=archive,
        spool=DirectorySpool(root),
        compute=compute,
        disk=DirectoryDisk(root, 0),
        sink=ear,
        rng=random.Random(1),
        version="0",
        owner="w-hand",
        vault=FernetVault(root, ""),
    )
    try:
        yield Hand(clock, store, fetcher, frontier, world, ear, clock.now_s())
    finally:
        await fetcher.aclose()
        await compute.aclose()
        await archive.aclose()
