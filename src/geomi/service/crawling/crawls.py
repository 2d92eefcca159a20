"""A tenant's crawls: start, find, list, cancel, pause, resume, repeat, delete.

Starting a crawl only stores it; `begin_waiting` lets it begin when its tenant has a place free. A
begun crawl is `initializing` while its rules are read and its seeds judged, `discovering` while
these enter the frontier, and `processing` from then on (WF-02, WF-03). A process that dies between
two states leaves a state from which the next goes on. What fails on the way ends the crawl with
its cause (C-46). `add_url`, `add_sitemap` and `sync_collection` are the three operations of a
knowledge base.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from geomi.app.use import channels
from geomi.app.use.crawl import draft_job, rules_of, start_drafted
from geomi.app.use.deletion import delete_job
from geomi.app.use.plan import Plan
from geomi.engine import jobs
from geomi.engine import jobs as use
from geomi.errors import GeomiError, QuotaReached, StoreError, UnknownName, WrongState
from geomi.model.job import CrawlJob, JobFilter, JobState, StopReason
from geomi.model.tenant import Quota
from geomi.service import collections
from geomi.service.access import tenants
from geomi.service.crawling.orders import ORIGIN, CrawlOrder, in_field, plan_for
from geomi.service.service import Service, TenantService
from geomi.settings.layers import Layer, Resolved
from geomi.settings.options import RunOptions
from geomi.url.parse import parse as parse_url

JOB_ID = re.compile(r"[0-9A-HJKMNP-TV-Z]{26}")
# A place becomes free when a crawl ends, which takes minutes rather than seconds.
CROWDED_S = 60.0
# Ends that a tenant's quota brought: what is left waits for another day, or for room.
BY_QUOTA = frozenset({StopReason.DAILY_QUOTA, StopReason.STORAGE_QUOTA})
MOST_AT_ONCE = 1000
# A page alone, wherever its path leads: somebody asked for just this one.
_ONE_PAGE = {
    "limits.max_pages": 1,
    "limits.max_depth": 0,
    "scope.sitemaps": False,
    "scope.block_defaults": False,
}
MAX_SYNCED = 100  # crawls of one collection that are begun anew at once


@dataclass(frozen=True, slots=True)
class CrawlCounts:
    """What is counted of a crawl beside its own counters (JOB-02)."""

    queued: int
    indexed: int
    chunks: int


async def start(
    desk: TenantService, order: CrawlOrder, *, job_id: str = "", is_fallback: bool = False
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
        plan = await channels.plan_for_channel(
            desk.home, plan, await channels.known_channel(desk.home, order.provider)
        )
    return await _draft(desk, plan, order.collection, job_id, is_let_in=is_fallback)


async def find(desk: TenantService, job_id: str) -> CrawlJob:
    """Find a crawl of this tenant by its whole id."""
    job = await desk.world.store.jobs.get(job_id) if JOB_ID.fullmatch(job_id) else None
    if job is None:
        raise UnknownName(f"no crawl is called `{job_id[:80]}`")
    return job


async def page(desk: TenantService, which: JobFilter, *, before: str, limit: int) -> list[CrawlJob]:
    """List crawls, newest first, for paging."""
    return list(await desk.world.store.jobs.page(which, before=before, limit=limit))


async def crawl_counts(desk: TenantService, job: CrawlJob) -> CrawlCounts:
    """Count what a crawl's own counters do not."""
    outlook = await desk.world.store.census.outlook(job.id, now_s=desk.world.clock.now_s())
    documents = await desk.world.store.documents.counts(job.id)
    return CrawlCounts(outlook.pending, documents.indexed, documents.chunks)


async def cancel(desk: TenantService, job_id: str) -> CrawlJob:
    """End a crawl for good; one that is over cannot be (G-18)."""
    return await use.cancel(desk.world, await find(desk, job_id))


async def pause(desk: TenantService, job_id: str) -> CrawlJob:
    """Let a crawl take no more pages (G-28)."""
    return await use.pause(desk.world, await find(desk, job_id), paused=True)


async def resume(desk: TenantService, job_id: str) -> CrawlJob:
    """Let a crawl go on that was paused, or that a quota of its tenant ended (C-45)."""
    job = await find(desk, job_id)
    if job.state is not JobState.COMPLETED or job.stop not in BY_QUOTA:
        return await use.pause(desk.world, job, paused=False)
    if not (await crawl_counts(desk, job)).queued:
        raise WrongState(f"nothing of crawl {job.id} is left to do")
    most = (await tenants.find(desk.service, desk.tenant)).quota.max_concurrent_crawls
    again = replace(job, state=JobState.PROCESSING, stop=None, ended_at_s=None)
    was = JobState.COMPLETED
    if not await desk.world.store.jobs.turn(again, was=was, most=most, wall_s=desk.wall_s):
        raise QuotaReached(
            f"as many crawls are at work as may be, {most}",
            hint="wait until one has ended",
            retry_after_s=CROWDED_S,
        )
    return await find(desk, job_id)


async def repeat(desk: TenantService, job_id: str) -> CrawlJob:
    """Write down a new crawl like one that is over."""
    old = await find(desk, job_id)
    if not old.state.is_final:
        raise WrongState(f"crawl {old.id} is {old.state}, not over", hint="cancel it first")
    with in_field("crawlId"):
        seeds = use.read_seeds(old.seeds)
    plan = Plan(
        seeds,
        Resolved(old.config, RunOptions(profile=old.profile), old.origins),
        Layer(ORIGIN, {}),
        provider=old.provider,
        channel=old.channel,
        channel_why=old.channel_why,
        library=old.library,
        library_name=old.library_name,
    )
    return await _draft(desk, plan, old.collection or old.config.analysis.collection, "")


async def delete(desk: TenantService, job_id: str) -> None:
    """Forget a crawl that is over, with its pages and what can be found of them."""
    await delete_job(desk.home, await find(desk, job_id))


async def _draft(
    desk: TenantService, plan: Plan, collection: str, job_id: str, *, is_let_in: bool = False
) -> CrawlJob:
    quota = (await tenants.find(desk.service, desk.tenant)).quota
    async with desk.door:
        if not is_let_in:
            await _refuse_crowd(desk, quota)
        await collections.ensure(desk, collection)
        with in_field("seedUrls"):
            rules = await rules_of(desk.home, plan)
            return await draft_job(desk.home, plan, rules, collection=collection, job_id=job_id)


async def _refuse_crowd(desk: TenantService, quota: Quota) -> None:
    """Raise where so many crawls wait that one more would wait too long."""
    many = (await desk.world.store.jobs.counts()).get(JobState.PENDING, 0)
    if quota.max_waiting and many >= quota.max_waiting:
        raise QuotaReached(
            f"{many} crawls are waiting; the limit is {quota.max_waiting}",
            hint="wait until some have begun, or cancel them",
            retry_after_s=CROWDED_S,
        )


async def begin_waiting(service: Service) -> int:
    """Let crawls begin that may; return how many did."""
    begun = 0
    for tenant, name in await service.home.store.roster.waiting(MOST_AT_ONCE):
        desk = service.desk(tenant)
        if job := await _admitted(desk, name):
            await _begin(desk, job)
            begun += 1
    return begun


async def _admitted(desk: TenantService, name: str) -> CrawlJob | None:
    """Return a job that has a place among its tenant's, or None."""
    job = await desk.world.store.jobs.get(name)
    if job is None or job.state is not JobState.PENDING:
        return job
    quota = (await tenants.find(desk.service, desk.tenant)).quota
    most = quota.max_concurrent_crawls
    if not await desk.world.store.jobs.begin(name, most=most, wall_s=desk.wall_s):
        return None
    return await desk.world.store.jobs.get(name)


async def _begin(desk: TenantService, job: CrawlJob) -> None:
    try:
        await start_drafted(desk.home, job)
    except StoreError:
        raise  # it is not the crawl's fault; the next look goes on with it
    except UnknownName:
        return  # it was deleted meanwhile
    except GeomiError as error:
        await jobs.fail(desk.world, job, error.message)


async def add_url(desk: TenantService, collection: str, url: str) -> CrawlJob:
    """Start a crawl of one page."""
    with in_field("url"):
        return await start(desk, CrawlOrder(collection, (url,), settings=_ONE_PAGE, is_ours=True))


async def add_sitemap(
    desk: TenantService, collection: str, url: str, *, max_pages: int
) -> CrawlJob:
    """Start a crawl of the pages that a sitemap lists, and of its site's front page."""
    parsed = parse_url(url)
    front = f"{parsed.scheme}://{parsed.authority}/" if parsed else url
    settings = {"limits.max_pages": max_pages, "limits.max_depth": 1}
    order = CrawlOrder(collection, (front,), sitemaps=(url,), settings=settings)
    return await start(desk, order)


async def sync_collection(desk: TenantService, collection: str) -> list[CrawlJob]:
    """Crawl again whatever filled a collection; pages that have not changed are not fetched anew.

    Of several crawls from the same seeds the newest counts; one that is still going on is left.
    """
    await collections.find(desk, collection)
    newest: dict[tuple[str, ...], CrawlJob] = {}
    before = ""
    while len(newest) < MAX_SYNCED:
        found = await page(desk, JobFilter(collection), before=before, limit=100)
        if not found:
            break
        for job in found:
            newest.setdefault(job.seeds, job)
        before = found[-1].id
    over = [job for job in newest.values() if job.state.is_final][:MAX_SYNCED]
    if not over:
        raise WrongState(f"no crawl that is over has filled collection `{collection}`")
    return [await repeat(desk, job.id) for job in over]
