"""The line of one domain's collector: one host in hand at a time, in its turn and politely.

A host is given back when another is asked for, when it has to rest for long, and at the end.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from geomi.engine.host.reserve import reserved
from geomi.engine.host.session import CROWDED_S, Asker, MustRest
from geomi.engine.world import World
from geomi.model.config import CrawlConfig
from geomi.model.entry import Batch

# How long a host is waited for that others ask, or that has to rest. A crawl gives its hosts back
# every minute or so.
LONGEST_TURN_S = 300.0

T = TypeVar("T")


class Line:
    """Holds at most one host."""

    def __init__(self, world: World, config: CrawlConfig) -> None:
        self._world = world
        self._config = config
        self._asker: Asker | None = None

    @property
    def must_rest(self) -> bool:
        """Whether the host in hand has to rest so long that asking it again now is pointless."""
        return self._asker is not None and (self._asker.must_rest() or self._asker.is_down())

    @property
    def is_closed(self) -> bool:
        """Whether the host in hand has to rest for longer than anybody waits for it here."""
        held = self._asker
        return held is not None and (held.is_down() or held.delay_s() > LONGEST_TURN_S)

    async def use(self, host: str, work: Callable[[Asker], Awaitable[T]]) -> T:
        """Ask a host (`name:port`) for something; wait where a cap on all requests is reached.

        Raises `StoreBusy` where its turn does not come, and `LeaseLost` where it was over.
        """
        while True:
            try:
                return await work(await self._to(host))
            except MustRest as rest:
                await self.hang_up()
                await self._world.clock.sleep_until(rest.until_s)

    async def hang_up(self) -> None:
        """Give back the host in hand, with what was learned of it."""
        asker, self._asker = self._asker, None
        if asker is not None:
            await self._world.frontier.settle(Batch(hosts=(asker.farewell(),)))

    async def _to(self, host: str) -> Asker:
        if self._asker is not None and (self._asker.lease.host != host or self._asker.must_rest()):
            await self.hang_up()
        last_s = self._world.clock.now_s() + LONGEST_TURN_S
        while self._asker is None:
            wait_s = last_s - self._world.clock.now_s()
            lease = await reserved(self._world, self._config, host, longest_wait_s=wait_s)
            asker = self._asker = Asker(self._world, lease, self._config, asyncio.Semaphore(1))
            if not await asker.take_place():
                await self._step_back()
        return self._asker

    async def _step_back(self) -> None:
        """Give back a host whose address has enough to do; not all of them come again at once."""
        await self.hang_up()
        clock = self._world.clock
        await clock.sleep_until(clock.now_s() + self._world.rng.uniform(0, CROWDED_S))
