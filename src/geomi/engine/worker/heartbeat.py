"""Send heartbeats of a process; one process of all also cleans up after dead ones.

The lock of a process in our data directory shows at once that it died. Processes elsewhere count as
dead after their silence. A worker may count as dead because it or its database was away for too
long; it then comes back under its name. Its leases have ended, and the store refuses their tokens.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from dataclasses import replace
from typing import TypeVar

from geomi.engine.host.lease import longest_request_s
from geomi.engine.worker.leader import REAP, Leadership
from geomi.engine.world import World
from geomi.errors import GeomiError, StoreError, first_error
from geomi.model.config import CrawlConfig
from geomi.model.event import Warned
from geomi.model.worker import WorkerCard, WorkerRole
from geomi.ports.runtime import SharedTime

T = TypeVar("T")

# Beats in the time of a silence: a few may be late or lost.
BEATS_PER_SILENCE = 6
# The weight of the newest beat in the rate that is shown: it follows within some beats.
RATE_WEIGHT = 0.3


class Heartbeat:
    """The heartbeat of one process; it begins when the process enrols.

    Args:
        card: who this process is; times and counts are filled in here.
        stay: shows those of this machine that the process lives; whether it had to do so anew.
        tend: puts in order what the dead left; called by one process at a time.
    """

    def __init__(
        self,
        world: World,
        card: WorkerCard,
        time: SharedTime,
        *,
        stay: Callable[[], bool],
        tend: Callable[[], Awaitable[object]],
    ) -> None:
        self._world = world
        self._card = card
        self._time = time
        self._stay = stay
        self._tend = tend
        self._reaping = Leadership(world, REAP)
        self._jobs: list[str] = []
        self._counted = 0
        self._beat_s = 0.0
        self.is_enrolled = False
        self._troubles: dict[str, StoreError] = {}

    async def enrol(self, role: WorkerRole, configs: Iterable[CrawlConfig] = ()) -> None:
        """Make this process known; a request of a job's may take as long as its deadline says."""
        if not self.is_enrolled:
            await self._time.agree()
        now_s = self._world.clock.now_s()
        silence_s = self._world.silence_s + max(map(longest_request_s, configs), default=0.0)
        was = self._card
        self._card = replace(
            was,
            role=role,
            started_s=was.started_s or now_s,
            beat_s=now_s,
            silence_s=max(silence_s, was.silence_s),
            jobs=tuple(self._jobs),
            pages=self._world.meter.pages,
        )
        self._beat_s, self._counted, self.is_enrolled = now_s, self._world.meter.pages, True
        await self._world.store.workers.enrol(self._card)

    async def expect(self, config: CrawlConfig) -> None:
        """Ask for more patience where a job's requests may take longer."""
        if longest_request_s(config) + self._world.silence_s > self._card.silence_s:
            await self.enrol(self._card.role, [config])

    def join(self, job: str) -> None:
        """Work on a job as well."""
        self._jobs.append(job)

    def part(self, job: str) -> None:
        """Work on a job no more."""
        self._jobs.remove(job)

    async def run(self, *, endures: bool = False) -> None:
        """Beat, and look after the dead, until cancelled.

        Args:
            endures: go on where the store refuses a beat, for a process that has more to do than
                to write; it is told once, and `trouble` says so until a beat is written again.
                What the system refuses for a while, such as a file handle, every process endures.
        """
        async with asyncio.TaskGroup() as group:
            beating = self._repeat("beat", self._beat, endures=endures)
            group.create_task(beating, name="beat")
            tending = self._repeat("tend", self._look_after, endures=endures)
            group.create_task(tending, name="tend")

    async def leave(self) -> None:
        """Say goodbye: nothing of this process is left to be looked after."""
        if self.is_enrolled:
            self.is_enrolled = False
            await self._world.store.workers.leave([self._world.owner])

    @property
    def every_s(self) -> float:
        """How often it beats."""
        return self._world.silence_s / BEATS_PER_SILENCE

    @property
    def trouble(self) -> StoreError | None:
        """Why the last beat was not written, or what the dead left not put in order; if so."""
        return next(iter(self._troubles.values()), None)

    async def _repeat(
        self, name: str, work: Callable[[], Awaitable[None]], *, endures: bool
    ) -> None:
        while True:
            await asyncio.sleep(self.every_s)
            try:
                await work()
            except OSError as error:
                told = StoreError(f"the system refused what a heartbeat needs: {error.strerror}")
                told.__cause__ = error
                self._endure(name, told)
            except StoreError as error:
                if not endures:
                    raise
                self._endure(name, error)
            else:
                self._recover(name)

    def _endure(self, name: str, error: StoreError) -> None:
        if not self._troubles:
            self._world.sink.emit(Warned("", error.message, error.hint))
        self._troubles[name] = error

    def _recover(self, name: str) -> None:
        was = self._troubles.pop(name, None)
        if was is not None and not self._troubles:
            is_system = isinstance(was.__cause__, OSError)
            told = "the system grants it again" if is_system else "the store can be written again"
            self._world.sink.emit(Warned("", told))

    async def _beat(self) -> None:
        self._show_presence()
        if jump_s := await self._time.correct():
            self._world.sink.emit(Warned("", f"a clock jumped by {jump_s:+.1f} s"))
        now_s, pages = self._world.clock.now_s(), self._world.meter.pages
        lately = (pages - self._counted) / max(now_s - self._beat_s, 0.001)
        rate = self._card.pages_per_s
        rate = lately if rate == 0.0 else rate + RATE_WEIGHT * (lately - rate)
        self._card = replace(self._card, pages_per_s=rate)
        self._beat_s, self._counted = now_s, pages
        is_known = await self._world.store.workers.beat(
            self._world.owner,
            jobs=sorted(set(self._jobs)),
            pages=pages,
            pages_per_s=rate,
            now_s=now_s,
        )
        if not is_known:
            self._world.sink.emit(
                Warned("", "this worker counted as dead; other workers took over its hosts")
            )
            await self.enrol(self._card.role)

    def _show_presence(self) -> None:
        try:
            if self._stay():
                told = "somebody deleted the lock file of this process; it made the file anew"
                self._world.sink.emit(Warned("", told))
        except StoreError as error:  # the next beat tries again
            self._world.sink.emit(Warned("", error.message, error.hint))

    async def _look_after(self) -> None:
        if not await self._reaping.take():
            return
        try:
            await self._tend()
        except StoreError as error:  # an archive that is away costs nobody a page
            self._world.sink.emit(Warned("", error.message, error.hint))


async def with_heartbeat(
    heartbeat: Heartbeat, work: Coroutine[None, None, T], *, endures: bool = False
) -> T:
    """Do some work while the heartbeat goes on; an error of either is raised as itself.

    Args:
        endures: a beat that the store refuses is no such error.
    """
    try:
        async with asyncio.TaskGroup() as group:
            living = group.create_task(heartbeat.run(endures=endures), name="heartbeat")
            done = await work
            living.cancel()
        return done
    except* GeomiError as failures:
        raise first_error(failures) from failures
