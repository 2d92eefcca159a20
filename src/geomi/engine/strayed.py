"""A crawl that collected nothing because its start URL leads out of it."""

from __future__ import annotations

from geomi.engine.world import World
from geomi.model.entry import Source
from geomi.model.job import CrawlJob
from geomi.model.verdict import Outcome

LOOKED_AT = 100  # entries of a job that collected nothing


async def strayed_seed(world: World, job: CrawlJob) -> str:
    """Name a start URL that leads out of the crawl, where that left nothing to collect."""
    if job.stats.collected:
        return ""
    entries = await world.census.entries(job.id, state=None, after=b"", limit=LOOKED_AT)
    for entry in entries:
        if entry.outcome is Outcome.REDIRECT_EXCLUDED and entry.source is Source.SEED:
            return f"{entry.origin or entry.url} {entry.detail}: geomi why {entry.url}"
    return ""
