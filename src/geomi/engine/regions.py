"""Which URLs of a job wait for a worker of a region, where no live worker is there (FUT-20)."""

from __future__ import annotations

from collections.abc import Sequence

from geomi.engine.world import World
from geomi.errors import RegionUnserved
from geomi.model.entry import WaitingRegion
from geomi.model.job import CrawlJob
from geomi.model.worker import WorkerRole


async def unserved(world: World, job: CrawlJob) -> tuple[WaitingRegion, ...]:
    """Return what no live worker may be lent; nothing of a job whose hosts name no regions."""
    if not job.config.regions.are_named:
        return ()
    waiting = await world.store.census.regions(job.id)
    alive = await live_regions(world, job)
    return tuple(one for one in waiting if one.regions and alive.isdisjoint(one.regions))


async def live_regions(world: World, job: CrawlJob) -> frozenset[str]:
    """Return the regions of the live workers that a job may have; empty stands for none."""
    now_s = world.clock.now_s()
    return frozenset(
        card.region
        for card in await world.store.workers.list()
        if not card.is_silent(now_s) and (card.role is WorkerRole.WORKER or job.id in card.jobs)
    )


def describe_unserved(waiting: Sequence[WaitingRegion]) -> str:
    """Say what waits for which regions."""
    return "; ".join(
        f"{one.urls:,} URLs on {one.hosts:,} hosts wait for a worker of region "
        f"{' or '.join(one.regions)}, and none is alive"
        for one in waiting
    )


def refused(message: str) -> RegionUnserved:
    """Return the error of a job that has only such URLs left."""
    return RegionUnserved(
        message, hint="start `geomi worker --region NAME`, or resume the job with --region NAME"
    )
