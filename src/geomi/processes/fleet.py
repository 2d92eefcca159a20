"""Run the workers of a store as actors of a Ray cluster, as many as the work needs.

In comes a plan: the store, the archive, and the fewest and the most workers. Each actor runs what
`geomi worker` runs. Ray restarts an actor whose process or node died. One more actor, the keeper,
counts the waiting URLs every few seconds. It starts workers at once, and drains them only if there
were too many for a while. The keeper stores nothing that the cluster and the store do not have, so
Ray may restart it anywhere. A fleet decides nothing about a crawl: workers and store do. A person
uses `up`, `status` and `down`.
"""

from __future__ import annotations

import asyncio
import math
import os
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import closing, contextmanager, redirect_stdout
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from geomi.adapters.machine.processes import relax_garbage_collector
from geomi.adapters.machine.ray import RayActors, node_id
from geomi.adapters.telemetry.fan_out import EventFanOut, EventsOnly
from geomi.adapters.telemetry.log_lines import EventLines
from geomi.app import open_directory
from geomi.app.store import clock_of, open_store
from geomi.engine.worker.job_pool import MOST_JOBS, JobPool
from geomi.errors import ClusterError, ConfigError, GeomiError
from geomi.model.event import JobEnded, JobStarted, Warned
from geomi.ports.runtime import Clock
from geomi.processes.crawl import WorkerTask, serve_jobs
from geomi.settings.options import Settings

# A worker fetches some hundred pages a second where hosts allow it, and some ten where few do:
# this many URLs keep it busy for half a minute to some minutes.
URLS_PER_WORKER = 2000
# How long less work has to last before a worker is sent home, which costs it a minute to come back.
STEADY_S = 60.0
NODE = "{node}"
# What fails at once would be started again at once, and again.
PAUSE_BEFORE_RESTART_S = 5.0
KEEPER_NAME = "fleet-keeper"
WORKER_PREFIX = "fleet-worker-"
# A worker that was just started may take a while to be there.
MEMBER_ANSWER_S = 5.0
# A node that has no process of geomi yet takes some seconds to start one.
START_S = 120.0
STATUS_POLL_S = 0.5


@dataclass(frozen=True, slots=True)
class FleetPlan:
    """What `geomi fleet up` asks for.

    Args:
        root: the data directory on each node; `{node}` in it becomes the node's name.
        least: how many workers there are without any work, and `most` with any amount of it.
        cpus: what each worker takes of its node.
        look_s: how often the keeper looks.
    """

    root: str
    settings: Settings
    least: int
    most: int
    urls_per_worker: int = URLS_PER_WORKER
    concurrency: int = 32
    cpus: float = 1.0
    look_s: float = 5.0


class MemberState(StrEnum):
    """How a worker of a fleet stands."""

    WORKING = "working"
    DRAINING = "draining"
    ENDED = "ended"
    AWAY = "away"  # being started, or started again elsewhere


@dataclass(frozen=True, slots=True)
class FleetMember:
    """One worker of a fleet; `owner` is its name in the store."""

    name: str
    state: MemberState
    node: str = ""
    owner: str = ""
    pid: int = 0
    error: str = ""


@dataclass(frozen=True, slots=True)
class FleetStatus:
    """A fleet as its keeper sees it.

    Args:
        wanted: how many workers there are to be.
        waiting: URLs that wait in the jobs of the store; None before the first look.
    """

    least: int
    most: int
    wanted: int
    waiting: int | None
    is_ending: bool
    members: tuple[FleetMember, ...]


def workers_worth(plan: FleetPlan, waiting: int) -> int:
    """Return how many workers so many waiting URLs are worth."""
    return max(plan.least, min(plan.most, math.ceil(waiting / plan.urls_per_worker)))


class ShrinkDamper:
    """Lets a fleet grow at once and shrink only when it had too many workers for a while."""

    def __init__(self, steady_s: float = STEADY_S) -> None:
        self._steady_s = steady_s
        self._wanted = 0
        self._less_since_s: float | None = None
        self._most_of_late = 0

    def settle(self, worth: int, *, now_s: float) -> int:
        """Return how many workers there are to be, given what the work is worth now."""
        if worth >= self._wanted:
            self._wanted, self._less_since_s = worth, None
            return self._wanted
        if self._less_since_s is None:
            self._less_since_s, self._most_of_late = now_s, worth
        self._most_of_late = max(self._most_of_late, worth)
        if now_s - self._less_since_s >= self._steady_s:
            self._wanted, self._less_since_s = self._most_of_late, None
        return self._wanted


class FleetWorker:
    """Begins to work when it is created, so that an actor that Ray restarts works too."""

    def __init__(self, name: str, plan: FleetPlan) -> None:
        self._name = name
        self._plan = plan
        self._owner = self._error = ""
        self._state = MemberState.WORKING
        self._loop: asyncio.AbstractEventLoop | None = None
        self._pool: JobPool | None = None
        self._node = node_id()
        relax_garbage_collector()
        threading.Thread(target=self._live, name="geomi-worker", daemon=True).start()

    def member(self) -> FleetMember:
        """Say how it stands."""
        return FleetMember(
            self._name, self._state, self._node, self._owner, os.getpid(), self._error
        )

    def drain(self) -> None:
        """Finish what is in flight, give hosts back, send segments, and be over."""
        if self._state is not MemberState.WORKING:
            return
        self._state = MemberState.DRAINING
        if self._loop is not None and self._pool is not None:
            self._loop.call_soon_threadsafe(self._pool.interrupt)

    def _live(self) -> None:
        try:
            asyncio.run(self._work())
        except BaseException as error:
            self._error = f"{type(error).__name__}: {error}"
            traceback.print_exc()
            time.sleep(PAUSE_BEFORE_RESTART_S)
            os._exit(1)  # Ray starts it again, here or elsewhere
        self._state = MemberState.ENDED

    async def _work(self) -> None:
        self._loop = asyncio.get_running_loop()
        root = Path(self._plan.root.replace(NODE, self._node))
        async with open_directory(root, self._plan.settings, _listen) as home:
            self._owner = home.world.owner
            task = WorkerTask(concurrency=self._plan.concurrency)
            await serve_jobs(home, task, on_start=self._begin)

    def _begin(self, pool: JobPool) -> None:
        self._pool = pool
        if self._state is MemberState.DRAINING:  # it was told to before it could listen
            pool.interrupt()


def _listen(clock: Clock) -> EventFanOut:
    return EventFanOut(EventsOnly((Warned, JobStarted, JobEnded), EventLines(sys.stderr, clock)))


class FleetKeeper:
    """Looks every few seconds, from a thread of its own, until it is ended."""

    def __init__(self, plan: FleetPlan) -> None:
        self._plan = plan
        self._actors = RayActors()
        self._damper = ShrinkDamper()
        self._waiting: int | None = None
        self._wanted = plan.least
        self._is_ending = False
        self._members: tuple[FleetMember, ...] = ()
        threading.Thread(target=self._keep, name="geomi-keeper", daemon=True).start()

    def status(self) -> FleetStatus:
        """Say how the fleet stands."""
        return FleetStatus(
            self._plan.least,
            self._plan.most,
            self._wanted,
            self._waiting,
            self._is_ending,
            self._members,
        )

    def change(self, plan: FleetPlan) -> None:
        """Change the number of workers; running ones keep their old plan."""
        self._plan, self._damper, self._is_ending = plan, ShrinkDamper(), False

    def down(self) -> None:
        """Drain every worker; none is started any more."""
        self._is_ending = True

    def _keep(self) -> None:
        while True:
            try:
                self._look()
            except GeomiError:
                traceback.print_exc()  # the store or the cluster is away; the next look may not be
            time.sleep(self._plan.look_s)

    def _look(self) -> None:
        names = [name for name in self._actors.names() if name.startswith(WORKER_PREFIX)]
        members = [self._ask(name) for name in names]
        for member in members:
            if member.state is MemberState.ENDED:
                self._actors.end(member.name)
        self._members = tuple(one for one in members if one.state is not MemberState.ENDED)
        self._wanted = 0 if self._is_ending else self._worth()
        staying = [one for one in self._members if one.state is not MemberState.DRAINING]
        for member in staying[self._wanted :]:
            self._drain(member)
        self._hire(self._wanted - len(staying), {one.name for one in self._members})

    def _ask(self, name: str) -> FleetMember:
        try:
            found = self._actors.call(name, "member", within_s=MEMBER_ANSWER_S)
        except ClusterError:
            return FleetMember(name, MemberState.AWAY)
        assert isinstance(found, FleetMember)
        return found

    def _drain(self, member: FleetMember) -> None:
        if member.state is MemberState.AWAY:
            self._actors.end(member.name)  # there is nothing to drain; the store knows what it held
            return
        self._actors.call(member.name, "drain", within_s=MEMBER_ANSWER_S)

    def _hire(self, many: int, taken: set[str]) -> None:
        numbers = (
            f"{WORKER_PREFIX}{number:04d}" for number in range(1, self._plan.most + len(taken) + 1)
        )
        free = [name for name in numbers if name not in taken]
        for name in free[: max(0, many)]:
            self._actors.start(name, FleetWorker, name, self._plan, cpus=self._plan.cpus)

    def _worth(self) -> int:
        if self._plan.least == self._plan.most:
            return self._plan.most
        self._waiting = asyncio.run(_waiting_urls(self._plan))
        return self._damper.settle(workers_worth(self._plan, self._waiting), now_s=time.monotonic())


async def _waiting_urls(plan: FleetPlan) -> int:
    """Count the URLs that wait in the jobs of every tenant."""
    with closing(open_store(Path(plan.root), plan.settings)) as store:
        now_s = clock_of(store).now_s()
        found = 0
        for tenant, job in await store.roster.active(MOST_JOBS):
            census = store.open_for(tenant).census
            found += (await census.outlook(job, now_s=now_s)).pending
        return found


@contextmanager
def cluster(address: str) -> Iterator[RayActors]:
    """Connect to a cluster for a while.

    Ray prints what it notices about nodes on stdout, where only the answer of a command belongs.
    """
    with redirect_stdout(sys.stderr), closing(RayActors(address)) as actors:
        yield actors


def up(actors: RayActors, plan: FleetPlan) -> FleetStatus:
    """Start a fleet as planned; a running fleet changes its number of workers."""
    check_plan(plan)
    if KEEPER_NAME in actors.names():
        actors.call(KEEPER_NAME, "change", plan)
    else:
        actors.start(KEEPER_NAME, FleetKeeper, plan, cpus=0)
    deadline_s = time.monotonic() + START_S
    while True:
        try:
            return status(actors)
        except ClusterError:
            if time.monotonic() > deadline_s:
                raise
            time.sleep(STATUS_POLL_S)


def status(actors: RayActors) -> FleetStatus:
    """Ask the keeper how the fleet stands."""
    found = actors.call(KEEPER_NAME, "status")
    assert isinstance(found, FleetStatus)
    return found


def down(actors: RayActors, *, within_s: float) -> int:
    """Drain the fleet and end its keeper; return how many workers had to be cut short."""
    deadline_s = time.monotonic() + within_s
    actors.call(KEEPER_NAME, "down")
    while (left := _workers(actors)) and time.monotonic() < deadline_s:
        time.sleep(STATUS_POLL_S)
    actors.end(KEEPER_NAME)
    for name in left:
        actors.end(name)
    return len(left)


def _workers(actors: RayActors) -> list[str]:
    return [name for name in actors.names() if name.startswith(WORKER_PREFIX)]


def check_plan(plan: FleetPlan) -> None:
    """Refuse a plan that cannot work."""
    if not plan.settings.db:
        raise ConfigError(
            "a fleet needs a database that all nodes can reach",
            hint="--db postgresql://user@host/name",
        )
    if not 0 <= plan.least <= plan.most or plan.most == 0:
        raise ConfigError(
            f"between {plan.least} and {plan.most} workers cannot be",
            hint="--min is at most --max, and --max at least 1",
        )
