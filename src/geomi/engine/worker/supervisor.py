"""Run one crawl from start to end: watch and replace workers, write outputs, end the job.

Workers may run in this process or in others; the supervisor knows each one as a `WorkerHandle`. It
replaces a worker that dies: a few times for reasons unknown, and more often where it is known what
it died of, because that is read in a process of its own in the end. The dead worker's leases end at
once, because its owner is known to be dead. Workers that joined from elsewhere have no handle here.
The supervisor waits until they have settled and uploaded what they hold. It leads its job, so that
nobody else ends it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from geomi.engine import jobs
from geomi.engine.host.robots import UNREACHED
from geomi.engine.inspect.alarms import CrawlJudgement
from geomi.engine.inspect.quality import strategies_of
from geomi.engine.regions import describe_unserved, unserved
from geomi.engine.worker.heartbeat import Heartbeat
from geomi.engine.worker.leader import job_leadership
from geomi.engine.worker.publisher import Outlet, Publisher
from geomi.engine.world import World
from geomi.errors import GeomiError, StoreBusy, StoreFull, first_error
from geomi.model.entry import EntryKind
from geomi.model.event import JobEnded, JobStarted, Progressed, Warned
from geomi.model.job import CrawlJob, StopReason
from geomi.model.worker import WorkerRole

MAX_RESTARTS = 5
# Deaths of which it is known what the worker had in hand. Two pages in a hundred may kill their
# reader; where all do, the reader is broken, and nobody should wait for the end of that.
MAX_EXPLAINED = 500
# How often the seconds worked are written down, so that `limits.max_time_s` survives a crash, and
# what is left is told.
BEAT_S = 2.0
# How often it is looked whether others have sent what they wrote: each look lists a bucket.
UPLOAD_LOOK_S = 1.0
# Lists of URLs that a job may have begun with beside its seeds.
MOST_LISTS = 100


class WorkerHandle(Protocol):
    """A running worker, wherever it runs."""

    owner: str

    async def wait(self) -> StopReason | None:
        """Return why it ended, or None when it died."""
        ...

    def drain(self) -> None:
        """Ask it to finish what is in flight and end."""
        ...

    def abandon(self) -> None:
        """Ask it to end now."""
        ...


class UploadState(StrEnum):
    """Whether everybody can read what a job has collected."""

    ALL = "all"
    NOT_YET = "not yet"  # a worker that lives will send the rest
    LOST = "lost"  # some of it is gone; its URLs wait again


async def _all_uploaded() -> UploadState:
    return UploadState.ALL


async def _not_known(_: str) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class CrawlReport:
    """How a crawl ended.

    Args:
        nothing_reached: why not even a start URL could be reached.
        strategies: the pages of the job by the way their content was found.
        judgement: which of its figures are out of bounds; None before its end, and of a job whose
            service judges it.
    """

    job: CrawlJob
    stop: StopReason
    seconds: float
    nothing_reached: str = ""
    strategies: Mapping[str, int] = field(default_factory=dict)
    judgement: CrawlJudgement | None = None


@dataclass(slots=True)
class Deaths:
    """How many processes have died in one place, and of how many it is known why."""

    unexplained: int = 0
    explained: int = 0

    @property
    def total(self) -> int:
        """How many have died."""
        return self.unexplained + self.explained

    def allow(self, *, explained: bool) -> bool:
        """Count a death; return whether another process may follow."""
        if explained:
            self.explained += 1
        else:
            self.unexplained += 1
        return self.unexplained <= MAX_RESTARTS and self.explained <= MAX_EXPLAINED


class Supervisor:
    """Runs one job with a number of workers.

    Args:
        sent: whether every committed byte of the job can be read by everybody.
        explain: notes what a dead worker had in hand, and says whether it had anything.
    """

    def __init__(
        self,
        world: World,
        heartbeat: Heartbeat,
        job: CrawlJob,
        start_worker: Callable[[], WorkerHandle],
        outlets: Sequence[Outlet],
        *,
        sent: Callable[[], Awaitable[UploadState]] = _all_uploaded,
        explain: Callable[[str], Awaitable[bool]] = _not_known,
    ) -> None:
        self._world = world
        self._job = job
        self._start_worker = start_worker
        self._heartbeat = heartbeat
        self._sent = sent
        self._explain = explain
        self._leadership = job_leadership(world, job.id)
        self._publisher = Publisher(world, job.id, outlets)
        self._workers: set[WorkerHandle] = set()
        self._stops: list[StopReason] = []
        self._deaths = Deaths()
        self._is_draining = False
        self._began_s = self._noted_s = world.clock.now_s()

    @property
    def job(self) -> str:
        """The id of the job."""
        return self._job.id

    def interrupt(self) -> bool:
        """First call: drain. Second call: stop now, and say so. Both leave the job resumable."""
        was_draining, self._is_draining = self._is_draining, True
        for worker in self._workers:
            if was_draining:
                worker.abandon()
            else:
                worker.drain()
        return was_draining

    async def run(self, *, workers: int, resumed: bool) -> CrawlReport:
        """Work on the job until every worker has ended, then close it."""
        await self._heartbeat.enrol(WorkerRole.SUPERVISOR, [self._job.config])
        self._heartbeat.join(self._job.id)
        try:
            return await self._lead(workers, resumed=resumed)
        finally:
            self._heartbeat.part(self._job.id)

    async def _lead(self, workers: int, *, resumed: bool) -> CrawlReport:
        if not await self._takes_over():
            raise StoreBusy(
                f"job {self._job.id} is supervised by {self._leadership.holder}",
                hint="`geomi workers` shows where it runs; `geomi worker` joins it",
            )
        self._world.sink.emit(JobStarted(self._job.id, self._job.seeds, resumed))
        try:
            await self._run(workers)
        except* GeomiError as failures:
            await self._fail(failures)
            raise first_error(failures) from failures
        return await self._close()

    async def _takes_over(self) -> bool:
        """Lead the job; a worker that led it in the meantime makes room."""
        if await self._leadership.take():
            return True
        holder = self._leadership.holder
        cards = await self._world.store.workers.list()
        if not any(card.owner == holder and card.role is WorkerRole.WORKER for card in cards):
            return False
        await self._leadership.relieve(holder)
        return await self._leadership.take()

    async def _run(self, workers: int) -> None:
        async with asyncio.TaskGroup() as group:
            publishing = group.create_task(self._publisher.run(), name="publish")
            beating = group.create_task(self._beat(), name="beat")
            living = group.create_task(self._heartbeat.run(), name="heartbeat")
            is_over = False
            while not is_over:
                async with asyncio.TaskGroup() as crew:
                    for number in range(workers):
                        crew.create_task(self._keep_running(), name=f"worker {number}")
                is_over = await self._is_over()
            beating.cancel()
            self._publisher.end(is_whole=self._ends())
            await publishing
            living.cancel()

    async def _is_over(self) -> bool:
        """Wait until every page can be read; False if some must be fetched again."""
        while self._ends() and (sent := await self._sent()) is not UploadState.ALL:
            if self._is_draining:
                self._stops = [StopReason.INTERRUPTED]
            elif sent is UploadState.LOST:
                self._stops.clear()
                return False
            else:
                await asyncio.sleep(UPLOAD_LOOK_S)
        return True

    def _ends(self) -> bool:
        """Whether the job must end now, and not stay for a resume."""
        return self._main_stop() not in jobs.RESUMABLE | {StopReason.CANCELLED}

    async def _keep_running(self) -> None:
        """Keep one place filled until its worker ends by itself."""
        while True:
            worker = self._start_worker()
            self._workers.add(worker)
            if self._is_draining:
                worker.drain()
            stop = await worker.wait()
            self._workers.discard(worker)
            if stop is not None:
                self._stops.append(stop)
                return
            await self._release_dead(worker)
            if self._is_draining:  # it may have died of being told to end
                self._stops.append(StopReason.INTERRUPTED)
                return

    async def _release_dead(self, worker: WorkerHandle) -> None:
        """End a dead worker's leases; its hosts rest one delay and are free again."""
        may_follow = self._deaths.allow(explained=await self._explain(worker.owner))
        await self._world.store.census.release_dead([worker.owner], now_s=self._world.clock.now_s())
        self._world.sink.emit(
            Warned(self._job.id, f"worker {worker.owner} died; another replaces it")
        )
        if not may_follow:
            raise GeomiError(
                f"workers died {self._deaths.total} times; the supervisor stops",
                hint="collected pages are safe: read the log, then continue with --resume",
            )

    async def _beat(self) -> None:
        while True:
            await self._tell_progress()
            await asyncio.sleep(BEAT_S)
            await self._leadership.take()
            await self._note_time()

    async def _tell_progress(self) -> None:
        job = await jobs.find(self._world, self._job.id)
        outlook = await self._world.store.census.outlook(job.id, now_s=self._world.clock.now_s())
        limit = job.config.limits.max_pages
        left = min(outlook.pending, limit - job.stats.settled) if limit else outlook.pending
        self._world.sink.emit(Progressed(job.id, outlook.pending, max(0, left)))

    async def _note_time(self) -> None:
        now_s = self._world.clock.now_s()
        await self._world.store.jobs.worked(self._job.id, now_s - self._noted_s)
        self._noted_s = now_s

    async def _fail(self, failures: BaseExceptionGroup[GeomiError]) -> None:
        """Write down why, where the store still takes it."""
        error = first_error(failures)
        stop = StopReason.DISK_FULL if isinstance(error, StoreFull) else StopReason.FAILED
        try:
            await jobs.finish(self._world, self._job, stop, error.message)
            await self._leadership.drop()
        except GeomiError:
            return  # the store itself is what failed; the job is still there to be resumed

    async def _close(self) -> CrawlReport:
        seconds = self._world.clock.now_s() - self._began_s
        await self._note_time()
        stop = self._main_stop()
        left = await unserved(self._world, self._job) if stop is StopReason.NO_REGION else ()
        job = await jobs.finish(self._world, self._job, stop, describe_unserved(left))
        await self._leadership.drop()
        self._world.sink.emit(job_ended_event(job, stop, seconds))
        strategies = await strategies_of(self._world, job)
        return CrawlReport(job, stop, seconds, await self._nothing_reached(job), strategies)

    async def _nothing_reached(self, job: CrawlJob) -> str:
        """Return why no start URL was reached, if no host answered at all."""
        if job.stats.collected or job.stats.discovered > len(job.seeds) + MOST_LISTS:
            return ""
        entries = await self._world.store.census.entries(
            job.id, state=None, after=b"", limit=job.stats.discovered
        )
        if not entries or not all(entry.outcome in UNREACHED for entry in entries):
            return ""
        first = next((entry for entry in entries if entry.kind is EntryKind.PAGE), entries[0])
        return f"{first.url}: {first.outcome}: {first.detail}"

    def _main_stop(self) -> StopReason:
        """Return the most specific reason of several workers: any but "nothing left"."""
        return next((stop for stop in self._stops if stop is not StopReason.DONE), StopReason.DONE)


def job_ended_event(job: CrawlJob, stop: StopReason, seconds: float) -> JobEnded:
    """Return the event of a job that takes no more pages."""
    return JobEnded(
        job=job.id,
        state=job.state,
        stop=stop,
        collected=job.stats.collected,
        failed=job.stats.failed,
        seconds=round(seconds, 3),
    )
