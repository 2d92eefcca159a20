"""Crawls as rows of a list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from geomi.model.job import CrawlJob
from geomi.service.crawling.progress import elapsed
from geomi.service.service import TenantService


@dataclass(frozen=True, slots=True)
class CrawlRow:
    """One crawl of a list; `done` is how much of what is known was visited, in per cent."""

    job: CrawlJob
    queued: int
    indexed: int
    per_minute: float
    done: float


async def crawl_rows(desk: TenantService, jobs: Sequence[CrawlJob]) -> tuple[CrawlRow, ...]:
    """Look at some crawls."""
    return tuple([await _row(desk, job) for job in jobs])


async def _row(desk: TenantService, job: CrawlJob) -> CrawlRow:
    outlook = await desk.world.census.outlook(job.id, now_s=desk.world.clock.now_s())
    counts = await desk.world.documents.counts(job.id)
    seconds = elapsed(desk, job)
    known = outlook.pending + job.stats.settled
    return CrawlRow(
        job,
        outlook.pending,
        counts.indexed,
        60 * job.stats.settled / seconds if seconds >= 1 else 0.0,
        100.0
        if job.state.is_final
        else round(100 * job.stats.settled / known, 1)
        if known
        else 0.0,
    )
