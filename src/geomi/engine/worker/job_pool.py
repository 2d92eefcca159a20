"""Serve every running job of a store in one process, and give each job its share.

The tenant makes no difference. Each job has an engine worker of its own in this process. All jobs
together have the requests in flight that the process may have. A job that holds no host keeps one
slot, and the others share the rest evenly. Where there are more jobs than slots, the job that was
served longest makes room.

The leader of a job ends it: the command that started it or, after that has ended, one of the
workers. So a job ends exactly once, even if its starter has died. It ends only after all its pages
are uploaded.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from geomi.engine import jobs
from geomi.engine.regions import describe_unserved, refused, unserved
from geomi.engine.worker.heartbeat import Heartbeat
from geomi.engine.worker.leader import Leadership, job_leadership
from geomi.engine.worker.loop import Worker
from geomi.engine.worker.supervisor import UPLOAD_LOOK_S, UploadState, job_ended_event
from geomi.engine.world import World, wait_for_event
from geomi.errors import ConfigError, StoreError, StoreFull, UnknownName
from geomi.model.event import JobStarted, Warned
from geomi.model.job import CrawlJob, StopReason

# How often a worker looks for jobs; an idle one ever less often.
LOOK_S = 0.5
LONGEST_LOOK_S = 4.0
# How often somebody is asked again who answers for a job that has nothing left, and how long a job
# rests that this worker may not serve.
AGAIN_S = 2.0
REFUSED_S = 60.0
# How long a job is served, at least, before another takes its place.
SLICE_S = 30.0
MOST_JOBS = 10_000


@dataclass(frozen=True, slots=True)
class JobWorker:
    """A job's worker, and the world as the job's tenant has it."""

    world: World
    job: CrawlJob
    worker: Worker


MakeJobWorker = Callable[[str, str], Awaitable[JobWorker | None]]


@dataclass(slots=True)
class _Service:
    """A job while it is served; `noted_s` is until when its seconds are counted."""

    world: World
    job: CrawlJob
    worker: Worker
    leadership: Leadership
    since_s: float
    noted_s: float
    asked_s: float


class JobPool:
    """Serves jobs until it is drained.

    Args:
        make_worker: makes the worker of a tenant's job, None where it is gone; `ConfigError` where
            this process cannot serve it.
        sent: whether everybody can read what a job has collected.
        concurrency: requests in flight, over all jobs.
        only: the one job to serve; empty for every job.
    """

    def __init__(
        self,
        world: World,
        heartbeat: Heartbeat,
        make_worker: MakeJobWorker,
        sent: Callable[[CrawlJob], Awaitable[UploadState]],
        *,
        concurrency: int,
        only: str = "",
    ) -> None:
        self._world = world
        self._heartbeat = heartbeat
        self._make_worker = make_worker
        self._sent = sent
        self._concurrency = concurrency
        self._only = only
        self._serving: dict[str, _Service] = {}
        self._served_s: dict[str, float] = {}
        self._again_s: dict[str, float] = {}
        self._refused: set[str] = set()
        self._left_to_others: set[str] = set()
        self._is_draining = False
        self._changed = asyncio.Event()
        self._is_full = False

    def interrupt(self) -> bool:
        """First call: drain. Second call: stop now, and say so."""
        was_draining, self._is_draining = self._is_draining, True
        for service in self._serving.values():
            if was_draining:
                service.worker.abandon()
            else:
                service.worker.drain()
        self._changed.set()
        return was_draining

    async def run(self, *, once: bool = False) -> None:
        """Serve jobs until drained; `once`, until none has work left."""
        look_s = LOOK_S
        async with asyncio.TaskGroup() as group:
            while not self._is_draining:
                self._changed.clear()
                waiting = await self._waiting()
                await self._take_up(group, waiting)
                await self._answer()
                self._share()
                if once and not self._serving and await self._is_all_done():
                    break
                look_s = LOOK_S if self._serving else min(look_s * 2, LONGEST_LOOK_S)
                await wait_for_event(self._changed, look_s)
        if self._is_full:
            raise StoreFull("no space is left on this disk", hint="free some space and start again")

    async def _waiting(self) -> list[tuple[str, str]]:
        """Return the jobs that may be served now, the least recently served first."""
        now_s = self._world.clock.now_s()
        active = await self._world.store.roster.active(limit=MOST_JOBS)
        for gone in self._served_s.keys() - {name for _, name in active}:
            del self._served_s[gone]
        found = [
            (tenant, name)
            for tenant, name in active
            if name not in self._serving
            and self._only in ("", name)
            and self._again_s.get(name, 0.0) <= now_s
        ]
        return sorted(found, key=lambda one: self._served_s.get(one[1], 0.0))

    async def _is_all_done(self) -> bool:
        """Whether every job is over, not for this worker, or led by a live process."""
        names = {name for _, name in await self._world.store.roster.active(limit=MOST_JOBS)}
        left = names & {self._only} if self._only else names
        return left <= self._refused | self._left_to_others

    async def _take_up(self, group: asyncio.TaskGroup, waiting: list[tuple[str, str]]) -> None:
        places = self._concurrency - len(self._serving)
        for tenant, name in waiting[: max(0, places)]:
            try:
                made = await self._make_worker(tenant, name)
            except ConfigError as error:
                self._refuse(name, error)
                continue
            if made is None:
                continue
            await self._heartbeat.expect(made.job.config)
            if self._is_draining:
                return
            now_s = self._world.clock.now_s()
            leadership = job_leadership(self._world, name)
            self._serving[name] = _Service(
                made.world, made.job, made.worker, leadership, now_s, now_s, float("-inf")
            )
            group.create_task(self._serve(self._serving[name]), name=f"job {name}")
        if len(waiting) > places:
            self._make_room()

    def _refuse(self, job: str, error: ConfigError) -> None:
        if self._only:
            raise error
        if job not in self._refused:
            self._refused.add(job)
            self._world.sink.emit(
                Warned(job, f"this worker cannot crawl it: {error.message}", error.hint)
            )
        self._again_s[job] = self._world.clock.now_s() + REFUSED_S

    def _make_room(self) -> None:
        """Stop serving the job that was served longest, if it had its time; it comes back later."""
        longest = min(self._serving.values(), key=lambda service: service.since_s)
        if self._world.clock.now_s() - longest.since_s > SLICE_S:
            longest.worker.drain()

    async def _answer(self) -> None:
        """Lead the jobs without a leader: add up the seconds worked."""
        for service in tuple(self._serving.values()):
            now_s = self._world.clock.now_s()
            if not service.leadership.is_ours and now_s - service.asked_s < self._heartbeat.every_s:
                continue
            service.asked_s = now_s
            was_ours = service.leadership.is_ours
            if await service.leadership.take() and was_ours:
                await self._note(service)
            service.noted_s = now_s

    async def _note(self, service: _Service) -> None:
        try:
            seconds = self._world.clock.now_s() - service.noted_s
            await service.world.store.jobs.worked(service.job.id, seconds)
        except UnknownName:
            return  # it was deleted; its worker finds out by itself

    def _share(self) -> None:
        """Give each job its slots; an idle job keeps one to begin with."""
        busy = [one for one in self._serving.values() if one.worker.is_busy]
        idle = len(self._serving) - len(busy)
        for service in self._serving.values():
            share = 1
            if service in busy or not busy:
                share = (self._concurrency - (idle if busy else 0)) // max(1, len(busy) or idle)
            wanted = service.job.config.politeness.concurrency
            service.worker.resize(max(1, min(share, wanted)))

    async def _serve(self, service: _Service) -> None:
        job, world = service.job, service.world
        world.sink.emit(JobStarted(job.id, job.seeds, resumed=True))
        self._heartbeat.join(job.id)
        try:
            stop = await service.worker.run()
            await world.archive.finish(job.id)  # others can read it then
            if stop is StopReason.DISK_FULL:
                self._is_full = True
                self.interrupt()
            elif stop is StopReason.NO_REGION:
                await self._leave_to_regions(service)
            elif stop not in jobs.RESUMABLE | {StopReason.CANCELLED}:
                await self._conclude(service, stop)
        except UnknownName:
            pass  # it was deleted under our hands
        finally:
            self._heartbeat.part(job.id)
            self._served_s[job.id] = world.clock.now_s()
            del self._serving[job.id]
            self._changed.set()
        await service.leadership.drop()

    async def _conclude(self, service: _Service, stop: StopReason) -> None:
        """End a job that has nothing left, unless another process leads it."""
        job, world = service.job, service.world
        while not self._is_draining:
            if not await service.leadership.take():
                await self._leave_to(service.leadership.holder, job)
                return
            self._left_to_others.discard(job.id)
            found = await world.store.jobs.get(job.id)
            if found is None or found.state.is_final:
                return  # whoever led it before has ended it
            match await self._look_at_bytes(job):
                case UploadState.LOST:
                    return
                case UploadState.ALL:
                    ended = await jobs.finish(world, job, stop)
                    if ended.state.is_final:
                        self._tell_end(service, ended, stop)
                    return
                case UploadState.NOT_YET:
                    await asyncio.sleep(UPLOAD_LOOK_S)

    async def _leave_to_regions(self, service: _Service) -> None:
        """Look at a job again later: what is left of it needs workers of a region without any."""
        job, world = service.job, service.world
        self._again_s[job.id] = world.clock.now_s() + AGAIN_S
        if job.id not in self._left_to_others:
            self._left_to_others.add(job.id)
            error = refused(describe_unserved(await unserved(world, job)))
            world.sink.emit(Warned(job.id, error.message, error.hint))

    async def _look_at_bytes(self, job: CrawlJob) -> UploadState:
        """Ask whether everybody can read a job; an archive that is away is no reason to end."""
        try:
            return await self._sent(job)
        except StoreError as error:
            self._world.sink.emit(Warned(job.id, error.message, error.hint))
            return UploadState.NOT_YET

    async def _leave_to(self, holder: str, job: CrawlJob) -> None:
        """Check a job again later; its leader ends it, if it lives."""
        now_s = self._world.clock.now_s()
        self._again_s[job.id] = now_s + AGAIN_S
        cards = await self._world.store.workers.list()
        is_alive = any(card.owner == holder and not card.is_silent(now_s) for card in cards)
        (self._left_to_others.add if is_alive else self._left_to_others.discard)(job.id)

    def _tell_end(self, service: _Service, ended: CrawlJob, stop: StopReason) -> None:
        seconds = self._world.clock.now_s() - service.since_s
        self._world.sink.emit(job_ended_event(ended, stop, seconds))
