"""One worker of a fleet: what `geomi worker` runs, in a thread of an actor's process."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
import traceback
from pathlib import Path

from geomi.adapters.machine.processes import relax_garbage_collector
from geomi.adapters.machine.ray import node_id
from geomi.adapters.telemetry.fan_out import EventFanOut, EventsOnly
from geomi.adapters.telemetry.log_lines import EventLines
from geomi.app import open_home
from geomi.app.serve import Task, serve
from geomi.engine.worker.job_pool import JobPool
from geomi.fleet.plan import NODE, FleetPlan, Member, MemberState
from geomi.model.event import JobEnded, JobStarted, Warned
from geomi.ports.clock import Clock

# What fails at once would be started again at once, and again.
PAUSE_BEFORE_RESTART_S = 5.0


class FleetWorker:
    """Begins to work when it is made, so that one that Ray starts again does so too."""

    def __init__(self, name: str, plan: FleetPlan) -> None:
        self._name = name
        self._plan = plan
        self._owner = self._error = ""
        self._state = MemberState.WORKING
        self._loop: asyncio.AbstractEventLoop | None = None
        self._shift: JobPool | None = None
        self._node = node_id()
        relax_garbage_collector()
        threading.Thread(target=self._live, name="geomi-worker", daemon=True).start()

    def member(self) -> Member:
        """Say how it stands."""
        return Member(self._name, self._state, self._node, self._owner, os.getpid(), self._error)

    def drain(self) -> None:
        """Finish what is in flight, give hosts back, send segments, and be over."""
        if self._state is not MemberState.WORKING:
            return
        self._state = MemberState.DRAINING
        if self._loop is not None and self._shift is not None:
            self._loop.call_soon_threadsafe(self._shift.interrupt)

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
        async with open_home(root, self._plan.settings, _listen) as home:
            self._owner = home.world.owner
            task = Task(concurrency=self._plan.concurrency)
            await serve(home, task, on_start=self._begin)

    def _begin(self, shift: JobPool) -> None:
        self._shift = shift
        if self._state is MemberState.DRAINING:  # it was told to before it could listen
            shift.interrupt()


def _listen(clock: Clock) -> EventFanOut:
    return EventFanOut(EventsOnly((Warned, JobStarted, JobEnded), EventLines(sys.stderr, clock)))
