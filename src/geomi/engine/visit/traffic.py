"""Say how much a place is visited: by the tenant's own table if it has one, else by the rank list.

A worker looks once whether there is a table, and reads it whole; of ranks it reads those that it
needs. What it knows of a host it remembers for the rest of its job.
"""

from __future__ import annotations

from dataclasses import dataclass

import orjson

from geomi.engine.world import World
from geomi.frontier.own_traffic import OwnTraffic, own_traffic
from geomi.frontier.priority import names_of, traffic
from geomi.ports.named_values import NamedValues
from geomi.url.parse import Url

NAMESPACE, TABLE = "traffic", "table"
MOST_HOSTS = 100_000  # whose ranks one worker remembers


@dataclass(frozen=True, slots=True)
class TrafficFinding:
    """How much a place is visited, from 0 to 1, and by what that is known.

    Args:
        listed_as: the name that the list or the table has for it; empty if it has none.
        rank: None without one.
        is_own: whether the tenant's own table says so.
    """

    traffic: float = 0.0
    listed_as: str = ""
    rank: int | None = None
    is_own: bool = False


class SiteTraffic:
    """What one worker knows of the traffic of places."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._by_host: dict[str, TrafficFinding] = {}
        self._own: OwnTraffic | None = None
        self._has_looked = False

    async def find(self, url: Url) -> TrafficFinding:
        """Say how much the place of a URL is visited."""
        if not self._has_looked:
            self._own, self._has_looked = await read_own(self._world.store.named_values), True
        if self._own is not None:
            place, own = self._own.find(url)
            return TrafficFinding(own, place, is_own=True)
        return self._by_host.get(url.authority) or await self._ranked(url.authority)

    async def _ranked(self, host: str) -> TrafficFinding:
        """Look a host up by its own name, or by the nearest above it."""
        if len(self._by_host) >= MOST_HOSTS:
            self._by_host.clear()
        names = names_of(host)
        ranks = await self._world.store.ranks.find(names)
        listed = next((name for name in names if name in ranks), "")
        rank = ranks.get(listed)
        found = self._by_host[host] = TrafficFinding(traffic(rank), listed, rank)
        return found


async def read_own(named_values: NamedValues) -> OwnTraffic | None:
    """Read a tenant's own table; None where it has none."""
    while (table := await named_values.get(NAMESPACE, TABLE)) is not None:
        told = orjson.loads(table.body)
        amounts: list[tuple[str, float]] = []
        for number in range(told["parts"]):
            part = await named_values.get(NAMESPACE, part_name(told["edition"], number))
            if part is None:  # a newer table has taken its place
                break
            amounts += orjson.loads(part.body)
        else:
            return own_traffic(amounts)
    return None


def part_name(edition: str, number: int) -> str:
    """Name a part of one edition of a table."""
    return f"{edition}-{number:04}"
