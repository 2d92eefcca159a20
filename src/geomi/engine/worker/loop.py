"""Lease hosts, visit their pages and settle in batches, until nothing is left.

A worker leases as many hosts as it needs to keep its share of requests in flight. A host that
rests takes no slot, so more hosts are leased while there is room. Backpressure is the size of the
next claim; there is no queue that could grow. `RequestSlots` is the one semaphore over all
requests; its size may change while the worker runs.
"""

from __future__ import annotations

import asyncio
from collections import deque
from functools import partial
from types import TracebackType

from geomi.engine.host.lease import lease_s
from geomi.engine.host.session import HostSession, MustRest
from geomi.engine.in_hand import in_hand
from geomi.engine.regions import unserved
from geomi.engine.visit.endings import ClosedVisit
from geomi.engine.visit.links import LinkGate
from geomi.engine.visit.road import Road
from geomi.engine.visit.rules import JobRules
from geomi.engine.worker.batch import JobBatches
from geomi.engine.worker.settler import Settler
from geomi.engine.world import World
from geomi.errors import LeaseLost
from geomi.frontier.priority import LOWEST
from geomi.model.config import CrawlConfig
from geomi.model.entry import EntryKind, Lease, Settlement, UrlEntry
from geomi.model.event import Warned
from geomi.model.job import CrawlJob, JobState, StopReason
from geomi.model.tenant import TenantUsage
from geomi.model.worker import WorkInHand, WorkKind

URLS_PER_LEASE = 10
MAX_HOSTS = 256
# How long an idle worker waits before it looks again for hosts that came due or were given back by
# another worker; doubled while nothing comes.
SHORTEST_POLL_S = 0.05
LONGEST_POLL_S = 0.4
# How often the job's row is read for a pause, a cancel or a limit that was reached.
CONTROL_S = 0.5


class Worker:
    """One worker on one job; the same whether it runs alone or beside others.

    What its visits need of the job is made here, once. A job that goes on under another
    configuration has another worker: this one ends as soon as it reads of that.
    """

    def __init__(self, world: World, job: CrawlJob, rules: JobRules, *, concurrency: int) -> None:
        self._world = world
        self._job = job
        self._concurrency = concurrency
        self.longest_poll_s = LONGEST_POLL_S
        self._slots = RequestSlots(concurrency)
        gate = LinkGate(rules, world.loop_share, partial(world.meter.add, "links"))
        self._road = Road(world, job, gate)
        self._privacy = rules.privacy
        self._changed = asyncio.Event()
        self._settler = Settler(world, job, gate, self._changed.set)
        # Batches of earlier settings have to be ended, too.
        has_batches = job.config.has_batches or job.batch.number > 0
        self._batches = JobBatches(world, job) if has_batches else None
        self._hosts: dict[asyncio.Task[None], HostSession] = {}
        self._stop: StopReason | None = None
        self._looked_s = float("-inf")
        self._began_s = world.clock.now_s() - job.active_s
        self._poll_s = SHORTEST_POLL_S

    @property
    def is_busy(self) -> bool:
        """Whether it holds any host."""
        return bool(self._hosts)

    def resize(self, concurrency: int) -> None:
        """Change the number of requests in flight; present ones continue."""
        if concurrency != self._concurrency:
            self._concurrency = concurrency
            self._slots.resize(concurrency)
            self._changed.set()

    @property
    def _config(self) -> CrawlConfig:
        return self._job.config

    def drain(self, reason: StopReason = StopReason.INTERRUPTED) -> None:
        """Take no more work: requests in flight end, what is resting goes back at once."""
        self._stop = self._stop or reason
        self._release_resting()
        self._changed.set()

    def abandon(self) -> None:
        """Stop now: cut off the requests in flight; what is settled is still committed."""
        self._stop = self._stop or StopReason.INTERRUPTED
        for task in self._hosts:
            task.cancel()
        self._changed.set()

    async def run(self) -> StopReason:
        """Work until the job has nothing left, a limit is reached, or someone says stop."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._settler.run(), name="settle")
            try:
                await self._lease_until_done(group)
            finally:
                self._settler.close()
        if self._batches and self._stop is StopReason.MAX_PAGES:
            await self._batches.judge()
            if await self._batches.has_failed():
                self._stop = StopReason.FAILED
        return self._stop or StopReason.DONE

    async def _lease_until_done(self, group: asyncio.TaskGroup) -> None:
        if self._batches:
            await self._batches.turn()
        while True:
            self._changed.clear()
            await self._look()
            if self._stop is not None:
                if not self._hosts:
                    return
                self._release_resting()  # who was in flight when the stop came may rest by now
                await self._wait(came=False)
                continue
            leases = await self._claim()
            for lease in leases:
                self._start(group, lease)
            if not leases and await self._is_done():
                return
            await self._wait(came=bool(leases))

    def _release_resting(self) -> None:
        for task, session in self._hosts.items():
            if session.is_waiting or session.is_pausing:
                task.cancel()

    async def _claim(self) -> list[Lease]:
        busy = sum(not session.is_waiting for session in self._hosts.values())
        most = min(self._config.politeness.max_hosts or MAX_HOSTS, MAX_HOSTS)
        free = min(self._concurrency - busy, most - len(self._hosts))
        # A claim for one host costs as much as for ten.
        worth_it = min(self._concurrency, most) // 4
        if free <= 0 or (self._hosts and free < worth_it) or self._job.paused:
            return []
        with self._world.meter.claim():
            return await self._world.store.frontier.claim(
                self._job.id,
                owner=self._world.owner,
                hosts=free,
                urls=URLS_PER_LEASE,
                lease_s=lease_s(self._config, self._world.silence_s),
                now_s=self._world.clock.now_s(),
                wall_s=self._world.clock.wall_s(),
            )

    def _start(self, group: asyncio.TaskGroup, lease: Lease) -> None:
        session = HostSession(self._world, lease, self._config, self._privacy, self._slots)
        task = group.create_task(self._serve(lease, session), name=f"host {lease.host}")
        self._hosts[task] = session
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        del self._hosts[task]
        self._changed.set()

    async def _serve(self, lease: Lease, session: HostSession) -> None:
        """Visit the leased entries of one host in order, then give it back.

        It goes back early where a sitemap has named others that come before the next entry.
        """
        ahead = LOWEST
        try:
            if not await session.take_place():
                return
            for entry in lease.entries:
                if self._stop is not None or self._job.paused or session.must_rest():
                    return
                if entry.priority < ahead or (found := await self._visit(entry, session)) is None:
                    return
                ahead = max(ahead, found)
        except MustRest:
            return  # the host goes back until then, and its entries wait with it
        except LeaseLost as lost:
            self._world.sink.emit(Warned(self._job.id, lost.message))
        finally:
            self._settler.release(session.farewell())

    async def _visit(self, entry: UrlEntry, session: HostSession) -> int | None:
        """Visit one entry and hand it over; None when its host must wait first.

        Nothing of it is held here while the next one comes, which may wait for the room it takes.
        Return the highest priority of the sitemaps that a sitemap has named.
        """
        if session.is_down():
            visit: ClosedVisit | None = await self._road.unvisited(entry, session)
        else:
            work = WorkInHand(self._world.store.tenant, WorkKind.PAGE, entry.url_hash, entry.url)
            visit = await in_hand(self._world.mark, work, self._road.visit(entry, session))
        if visit is None:
            return None
        await self._settler.put(visit)
        return _named_priority(visit.settlement)

    async def _look(self) -> None:
        """Read the job's row now and then: it may be paused, or a limit may be reached."""
        now_s = self._world.clock.now_s()
        if self._stop is not None or now_s - self._looked_s < CONTROL_S:
            return
        self._looked_s = now_s
        job = await self._world.store.jobs.get(self._job.id)
        if job is None:
            self.drain(StopReason.CANCELLED)
            return
        if job.config != self._config:  # it is resumed under other rules than ours
            self.drain(StopReason.INTERRUPTED)
            return
        self._job = job
        reason = stop_reason(job, active_s=now_s - self._began_s)
        if reason is None:
            standing = await self._world.store.quotas.standing(wall_s=self._world.clock.wall_s())
            reason = quota_reason(standing)
        if reason is None and not self._world.disk.has_space():
            reason = StopReason.DISK_FULL
        if reason is not None:
            self.drain(reason)

    async def _is_done(self) -> bool:
        if self._hosts or not self._settler.is_idle:
            return False
        if self._batches:
            await self._batches.turn()
            if await self._batches.has_failed():
                self.drain(StopReason.FAILED)
                return True
        outlook = await self._world.store.census.outlook(
            self._job.id, now_s=self._world.clock.now_s()
        )
        if outlook.pending:
            self._looked_s = float("-inf")  # perhaps only a limit keeps the rest from us
            if sum(one.urls for one in await unserved(self._world, self._job)) == outlook.pending:
                self.drain(StopReason.NO_REGION)
                return True
        return not outlook.pending

    async def _wait(self, *, came: bool) -> None:
        """Wait for a change in this worker, or a while for a change elsewhere."""
        self._poll_s = SHORTEST_POLL_S if came else min(self._poll_s * 2, self.longest_poll_s)
        try:
            async with asyncio.timeout(self._poll_s):
                await self._changed.wait()
        except TimeoutError:
            return
        self._poll_s = SHORTEST_POLL_S


def stop_reason(job: CrawlJob, *, active_s: float) -> StopReason | None:
    """Say which limit of its own configuration, if any, ends a job now; limits come first (C-44).

    Args:
        active_s: seconds of work in all runs. The job's own count lags behind, and what this run
            has added to it must not be counted twice.
    """
    limits, stats = job.config.limits, job.stats
    if job.state is JobState.CANCELLED:
        return StopReason.CANCELLED
    if job.state is JobState.FAILED:
        return StopReason.FAILED
    if limits.max_pages and stats.settled >= limits.max_pages:
        return StopReason.MAX_PAGES
    if limits.max_bytes and stats.bytes_received >= limits.max_bytes:
        return StopReason.MAX_BYTES
    if limits.max_time_s and active_s >= limits.max_time_s:
        return StopReason.MAX_TIME
    return None


def _named_priority(visit: Settlement) -> int:
    if visit.entry.kind is not EntryKind.SITEMAP:
        return LOWEST
    named = (one.priority for one in visit.discovered if one.kind is EntryKind.SITEMAP)
    return max(named, default=LOWEST)


def quota_reason(standing: TenantUsage) -> StopReason | None:
    """Say which quota of its tenant, if any, ends a job now; what is left of it waits (C-45)."""
    if not standing.has_room:
        return StopReason.STORAGE_QUOTA
    return None if standing.has_pages_left else StopReason.DAILY_QUOTA


class RequestSlots:
    """Places for requests in flight, given in the order of asking."""

    def __init__(self, many: int) -> None:
        self._many = many
        self._taken = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    def resize(self, many: int) -> None:
        """Change the number of slots; a held slot stays held."""
        self._many = many
        self._let_in()

    async def __aenter__(self) -> None:
        if self._taken < self._many and not self._waiting:
            self._taken += 1
            return
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if not place.cancelled():  # it was given at the same moment
                self._give_back()
            raise

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._give_back()

    def _give_back(self) -> None:
        self._taken -= 1
        self._let_in()

    def _let_in(self) -> None:
        while self._taken < self._many and self._waiting:
            place = self._waiting.popleft()
            if not place.done():  # else who waited was cancelled
                self._taken += 1
                place.set_result(None)
