"""A tenant's crawls: start, find, list, cancel, pause, resume, begin anew, delete.

Starting one only writes it down; whoever dispatches lets it begin when the tenant has a place free.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from geomi.app import channel, registry
from geomi.app.plan import Plan
from geomi.app.remove import remove
from geomi.app.run import draft
from geomi.engine import jobs as use
from geomi.errors import QuotaReached, UnknownName, WrongState
from geomi.model.job import CrawlJob, JobFilter, JobState, StopReason
from geomi.model.tenant import Quota
from geomi.service import collections, tenants
from geomi.service.open import Desk
from geomi.service.orders import ORIGIN, CrawlOrder, naming, plan_for
from geomi.settings.layers import Layer, Resolved
from geomi.settings.options import RunOptions

ID = re.compile(r"[0-9A-HJKMNP-TV-Z]{26}")
# A place becomes free when a crawl ends, which takes minutes rather than seconds.
CROWDED_S = 60.0
# Ends that a tenant's quota brought: what is left waits for another day, or for room.
BY_QUOTA = frozenset({StopReason.DAILY_QUOTA, StopReason.STORAGE_QUOTA})


@dataclass(frozen=True, slots=True)
class Figures:
    """What is counted of a crawl beside its own counters (JOB-02)."""

    queued: int
    indexed: int
    chunks: int


async def start(
    desk: Desk, order: CrawlOrder, *, job_id: str = "", is_fallback: bool = False
) -> CrawlJob:
    """Write a crawl down, to begin when its turn comes.

    Of a provider its ready documents are collected where a source is known to have them.

    Args:
        job_id: its name, where it was given before.
        is_fallback: they were, and it was not enough (G-22). It takes the place of a crawl that
            was let in, however many wait by now.
    """
    plan = plan_for(desk, order)
    if order.provider and not is_fallback:
        plan = await channel.planned(
            desk.home, plan, await channel.remembered(desk.home, order.provider)
        )
    return await _draft(desk, plan, order.collection, job_id, is_let_in=is_fallback)


async def find(desk: Desk, job_id: str) -> CrawlJob:
    """Find a crawl of this tenant by its whole id."""
    job = await desk.world.jobs.get(job_id) if ID.fullmatch(job_id) else None
    if job is None:
        raise UnknownName(f"no crawl is called `{job_id[:80]}`")
    return job


async def page(desk: Desk, which: JobFilter, *, before: str, limit: int) -> list[CrawlJob]:
    """List crawls, newest first, for paging."""
    return list(await desk.world.jobs.page(which, before=before, limit=limit))


async def figures(desk: Desk, job: CrawlJob) -> Figures:
    """Count what a crawl's own counters do not."""
    outlook = await desk.world.census.outlook(job.id, now_s=desk.world.clock.now_s())
    documents = await desk.world.documents.counts(job.id)
    return Figures(outlook.pending, documents.indexed, documents.chunks)


async def cancel(desk: Desk, job_id: str) -> CrawlJob:
    """End a crawl for good; one that is over cannot be (G-18)."""
    return await use.cancel(desk.world, await find(desk, job_id))


async def pause(desk: Desk, job_id: str) -> CrawlJob:
    """Let a crawl take no more pages (G-28)."""
    return await use.pause(desk.world, await find(desk, job_id), paused=True)


async def resume(desk: Desk, job_id: str) -> CrawlJob:
    """Let a crawl go on that was paused, or that a quota of its tenant ended (C-45)."""
    job = await find(desk, job_id)
    if job.state is not JobState.COMPLETED or job.stop not in BY_QUOTA:
        return await use.pause(desk.world, job, paused=False)
    if not (await figures(desk, job)).queued:
        raise WrongState(f"nothing of crawl {job.id} is left to do")
    most = (await tenants.find(desk.service, desk.tenant)).quota.max_concurrent_crawls
    again = replace(job, state=JobState.PROCESSING, stop=None, ended_at_s=None)
    was = JobState.COMPLETED
    if not await desk.world.jobs.turn(again, was=was, most=most, wall_s=desk.wall_s):
        raise QuotaReached(
            f"as many crawls are at work as may be, {most}",
            hint="wait until one has ended",
            retry_after_s=CROWDED_S,
        )
    return await find(desk, job_id)


async def begin_anew(desk: Desk, job_id: str) -> CrawlJob:
    """Write down a new crawl like one that is over."""
    old = await find(desk, job_id)
    if not old.state.is_final:
        raise WrongState(f"crawl {old.id} is {old.state}, not over", hint="cancel it first")
    with naming("crawlId"):
        seeds = use.read_seeds(old.seeds)
    resolved = Resolved(old.config, RunOptions(), _own(old))
    plan = Plan(seeds, resolved, Layer(ORIGIN, {}), provider=old.provider)
    return await _draft(desk, plan, old.collection or old.config.analysis.collection, "")


async def delete(desk: Desk, job_id: str) -> None:
    """Forget a crawl that is over, with its pages and what can be found of them."""
    await remove(desk.home, await find(desk, job_id))


async def _draft(
    desk: Desk, plan: Plan, collection: str, job_id: str, *, is_let_in: bool = False
) -> CrawlJob:
    quota = (await tenants.find(desk.service, desk.tenant)).quota
    reviews = await registry.read_site_decisions(desk.world)
    async with desk.door:
        if not is_let_in:
            await _refuse_crowd(desk, quota)
        await collections.ensure(desk, collection)
        with naming("seedUrls"):
            return await draft(desk.home, plan, reviews, collection=collection, job_id=job_id)


async def _refuse_crowd(desk: Desk, quota: Quota) -> None:
    """Raise where so many crawls wait that one more would wait too long."""
    many = (await desk.world.jobs.counts()).get(JobState.PENDING, 0)
    if quota.max_waiting and many >= quota.max_waiting:
        raise QuotaReached(
            f"{many} crawls are waiting; the limit is {quota.max_waiting}",
            hint="wait until some have begun, or cancel them",
            retry_after_s=CROWDED_S,
        )


def _own(job: CrawlJob) -> tuple[tuple[str, str], ...]:
    """Return where a job's settings came from, without what its process was allowed."""
    return tuple(
        (name, origin)
        for name, origin in job.origins
        if not name.startswith(("network ", "archive"))
    )
