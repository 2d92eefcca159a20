"""The robots.txt files fetched so far, for every tenant."""

from __future__ import annotations

from dataclasses import replace

from geomi.model.robots import RobotsCopy, RobotsKey
from tests.contracts.reference.world import World


class MemoryRobotsCopies:
    """`ports.store.RobotsCopies`."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def get(self, key: RobotsKey) -> RobotsCopy | None:
        """Find the newest copy."""
        return self._world.robots.get(key)

    async def put(self, copy: RobotsCopy) -> None:
        """Keep a copy in place of the one before."""
        self._world.robots[copy.key] = copy
        hosts = self._world.hosts
        if (row := hosts.get(copy.key.host)) is not None:  # it has answered until then
            last_end_s = max(row.state.last_end_s, copy.fetched_s)
            hosts[copy.key.host] = replace(row, state=replace(row.state, last_end_s=last_end_s))
