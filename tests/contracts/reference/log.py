"""The log of every request that was sent, whoever sent it: what `geomi audit` reads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf

from geomi.model.request_log import GoneRequests, SentRequest
from tests.contracts.reference.world import World


class MemoryRequestLog:
    """`ports.store.RequestLog`."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def hosts(self) -> list[str]:
        """List the hosts that were asked anything."""
        return sorted({one.host for one in self._world.requests.values()})

    async def of_host(self, host: str, *, after_s: float, limit: int) -> list[SentRequest]:
        """List a host's requests; more than `limit` where several started at the same moment."""
        return _part(
            (one for one in self._world.requests.values() if one.host == host), after_s, limit
        )

    async def ips(self) -> list[str]:
        """List the addresses that were asked anything."""
        return sorted({one.ip for one in self._world.requests.values() if one.ip})

    async def of_ip(self, ip: str, *, after_s: float, limit: int) -> list[SentRequest]:
        """List an address's requests; more than `limit` where several started at one moment."""
        known = (one for one in self._world.requests.values() if one.ip and one.ip == ip)
        return _part(known, after_s, limit)

    async def forget(self, *, before_s: float, limit: int) -> int:
        """Forget some of the oldest requests that started before a time."""
        oldest = list(self._world.requests.items())[:limit]
        old = [key for key, one in oldest if one.started_s < before_s]
        for key in old:
            del self._world.requests[key]
        if old:
            gone = self._world.gone
            most_s = max(before_s, gone.before_s)
            self._world.gone = GoneRequests(gone.requests + len(old), most_s)
        return len(old)

    async def gone(self) -> GoneRequests:
        """Say what was forgotten because its time was over."""
        return self._world.gone


def write_log(world: World, asked: Sequence[SentRequest]) -> None:
    """Write requests down; one that was written before stays as it is."""
    for one in asked:
        key = (one.host, one.job, one.owner, one.url, one.started_s, one.ended_s)
        world.requests.setdefault(key, one)


def _part(asked: Iterable[SentRequest], after_s: float, limit: int) -> list[SentRequest]:
    later = sorted((one for one in asked if one.started_s > after_s), key=lambda o: o.started_s)
    last_s = later[limit - 1].started_s if len(later) >= limit else inf
    return [one for one in later if one.started_s <= last_s]
