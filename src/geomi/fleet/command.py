"""What a person does with a fleet: have one, look at it, send it home."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from geomi.adapters.machine.ray import RayActors
from geomi.errors import ClusterError, ConfigError
from geomi.fleet.keeper import KEEPER, WORKER, FleetKeeper
from geomi.fleet.plan import FleetPlan, FleetStatus

# A node that has no process of geomi yet takes some seconds to start one.
START_S = 120.0
LOOK_S = 0.5


@contextmanager
def cluster(address: str) -> Iterator[RayActors]:
    """Connect to a cluster for a while."""
    actors = RayActors(address)
    try:
        yield actors
    finally:
        actors.close()


def up(actors: RayActors, plan: FleetPlan) -> FleetStatus:
    """Have a fleet as planned; one that is there changes its number of workers."""
    check(plan)
    if KEEPER in actors.names():
        actors.call(KEEPER, "change", plan)
    else:
        actors.start(KEEPER, FleetKeeper, plan, cpus=0)
    deadline_s = time.monotonic() + START_S
    while True:
        try:
            return status(actors)
        except ClusterError:
            if time.monotonic() > deadline_s:
                raise
            time.sleep(LOOK_S)


def status(actors: RayActors) -> FleetStatus:
    """Ask the keeper how the fleet stands."""
    found = actors.call(KEEPER, "status")
    assert isinstance(found, FleetStatus)
    return found


def down(actors: RayActors, *, within_s: float) -> int:
    """Drain the fleet and end its keeper; return how many workers had to be cut short."""
    deadline_s = time.monotonic() + within_s
    actors.call(KEEPER, "down")
    while (left := _workers(actors)) and time.monotonic() < deadline_s:
        time.sleep(LOOK_S)
    actors.end(KEEPER)
    for name in left:
        actors.end(name)
    return len(left)


def _workers(actors: RayActors) -> list[str]:
    return [name for name in actors.names() if name.startswith(WORKER)]


def check(plan: FleetPlan) -> None:
    """Refuse a plan that cannot work."""
    if not plan.settings.db:
        raise ConfigError(
            "a fleet needs a database that all its nodes can reach",
            hint="--db postgresql://user@host/name",
        )
    if not 0 <= plan.least <= plan.most or plan.most == 0:
        raise ConfigError(
            f"between {plan.least} and {plan.most} workers cannot be",
            hint="--min is at most --max, and --max at least 1",
        )
