"""The keeper of a fleet: one actor that sees to the number of workers.

It remembers nothing that it could not find out again: which workers there are is in the cluster,
how much work there is in the store. So Ray may start it again anywhere.
"""

from __future__ import annotations

import asyncio
import threading
import time
import traceback
from contextlib import closing
from pathlib import Path

from geomi.adapters.machine.ray import RayActors
from geomi.app.store import clock_of, open_store
from geomi.engine.worker.job_pool import MOST_JOBS
from geomi.errors import ClusterError, GeomiError
from geomi.fleet.plan import Damper, FleetPlan, FleetStatus, Member, MemberState, worth
from geomi.fleet.worker import FleetWorker

KEEPER = "fleet-keeper"
WORKER = "fleet-worker-"
# A worker that was just started may take a while to be there.
MEMBER_ANSWER_S = 5.0


class FleetKeeper:
    """Looks every few seconds, from a thread of its own, until it is ended."""

    def __init__(self, plan: FleetPlan) -> None:
        self._plan = plan
        self._actors = RayActors()
        self._damper = Damper()
        self._waiting: int | None = None
        self._wanted = plan.least
        self._is_ending = False
        self._members: tuple[Member, ...] = ()
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
        """Have another number of workers; those that are there go on under their old plan."""
        self._plan, self._damper, self._is_ending = plan, Damper(), False

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
        names = [name for name in self._actors.names() if name.startswith(WORKER)]
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

    def _ask(self, name: str) -> Member:
        try:
            found = self._actors.call(name, "member", within_s=MEMBER_ANSWER_S)
        except ClusterError:
            return Member(name, MemberState.AWAY)
        assert isinstance(found, Member)
        return found

    def _drain(self, member: Member) -> None:
        if member.state is MemberState.AWAY:
            self._actors.end(member.name)  # there is nothing to drain; the store knows what it held
            return
        self._actors.call(member.name, "drain", within_s=MEMBER_ANSWER_S)

    def _hire(self, many: int, taken: set[str]) -> None:
        numbers = (f"{WORKER}{number:04d}" for number in range(1, self._plan.most + len(taken) + 1))
        free = [name for name in numbers if name not in taken]
        for name in free[: max(0, many)]:
            self._actors.start(name, FleetWorker, name, self._plan, cpus=self._plan.cpus)

    def _worth(self) -> int:
        if self._plan.least == self._plan.most:
            return self._plan.most
        self._waiting = asyncio.run(_waiting(self._plan))
        return self._damper.settle(worth(self._plan, self._waiting), now_s=time.monotonic())


async def _waiting(plan: FleetPlan) -> int:
    """Count the URLs that wait in the jobs of every tenant."""
    with closing(open_store(Path(plan.root), plan.settings)) as store:
        now_s = clock_of(store).now_s()
        found = 0
        for tenant, job in await store.roster.active(MOST_JOBS):
            census = store.open_for(tenant).census
            found += (await census.outlook(job, now_s=now_s)).pending
        return found
