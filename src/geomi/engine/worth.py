"""What a URL is worth apart from who links to it, in the order `weighted` (PRI-02).

Traffic comes from the list of ranks that somebody imported; freshness from when a page was fetched
last and is due, or from its sitemap. Both are asked for a batch at a time, and only in this order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from geomi.engine.world import World
from geomi.frontier.freshness import freshness
from geomi.frontier.priority import merit
from geomi.frontier.traffic import names_of, raised, traffic
from geomi.model.config import CrawlConfig
from geomi.model.entry import Discovered, Settlement
from geomi.model.order import Order

MOST_HOSTS = 100_000  # whose traffic one worker remembers


class Worth:
    """Values what the visits of one job have found."""

    def __init__(self, world: World, config: CrawlConfig) -> None:
        self._world = world
        self._weights = config.weights
        self._traffic: dict[str, float] = {}

    async def settlements(self, visits: Sequence[Settlement]) -> list[Settlement]:
        """Value what was found; a page of a busy site lends its links some of that."""
        found = [(visit.entry.host, url) for visit in visits for url in visit.discovered]
        if not found:
            return list(visits)
        valued = iter(await self._valued(found))
        return [
            replace(visit, discovered=tuple(next(valued) for _ in visit.discovered))
            for visit in visits
        ]

    async def of(self, found: Sequence[Discovered]) -> list[Discovered]:
        """Value what no page has led to."""
        return await self._valued([(url.host, url) for url in found])

    async def _valued(self, found: Sequence[tuple[str, Discovered]]) -> list[Discovered]:
        visited = await self._world.pages.visited([url.url_hash for _, url in found])
        if len(self._traffic) >= MOST_HOSTS:
            self._traffic.clear()
        for host in {host for page, url in found for host in (page, url.host)}:
            await self._learn(host)
        now_s = self._world.clock.wall_s()
        valued = []
        for page, url in found:
            fetched_at_s, due_s = visited.get(url.url_hash, (None, None))
            fresh = freshness(
                now_s, fetched_at_s=fetched_at_s, due_s=due_s, lastmod_s=url.lastmod_s
            )
            busy = raised(self._traffic[url.host], self._traffic[page])
            worth = merit(self._weights, traffic=busy, freshness=fresh)
            valued.append(replace(url, priority=worth))
        return valued

    async def _learn(self, host: str) -> None:
        """Find out how busy a host's site is: by its own name, or by the nearest above it."""
        if host in self._traffic:
            return
        names = names_of(host)
        ranks = await self._world.ranks.find(names)
        self._traffic[host] = traffic(next((ranks[name] for name in names if name in ranks), None))


def worth_of(world: World, config: CrawlConfig) -> Worth | None:
    """Return what values the finds of a job; None where its order does not ask for it."""
    return Worth(world, config) if config.order is Order.WEIGHTED else None
