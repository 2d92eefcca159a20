"""Crawls that wait begin when their tenant has a place free.

A begun crawl is `initializing` while its rules are read and its seeds are judged, `discovering`
while these are put into the frontier, and `processing` from then on: its workers read robots.txt
and sitemaps before pages (WF-02, WF-03). Whoever dies on the way leaves a state in between, from
which the next goes on. What fails on the way ends the crawl with its cause (C-46).
"""

from __future__ import annotations

from geomi.app import registry
from geomi.app.run import begin_drafted
from geomi.engine import jobs
from geomi.errors import GeomiError, StoreError, UnknownName
from geomi.model.job import CrawlJob, JobState
from geomi.service import tenants
from geomi.service.open import Desk, Service

MOST_AT_ONCE = 1000


async def dispatch(service: Service) -> int:
    """Let crawls begin that may; return how many did."""
    begun = 0
    for tenant, name in await service.home.store.roster.waiting(MOST_AT_ONCE):
        desk = service.desk(tenant)
        if job := await _admitted(desk, name):
            await _begin(desk, job)
            begun += 1
    return begun


async def _admitted(desk: Desk, name: str) -> CrawlJob | None:
    """Return a job that has a place among its tenant's, or None."""
    job = await desk.world.jobs.get(name)
    if job is None or job.state is not JobState.PENDING:
        return job
    quota = (await tenants.find(desk.service, desk.tenant)).quota
    most = quota.max_concurrent_crawls
    if not await desk.world.jobs.begin(name, most=most, wall_s=desk.wall_s):
        return None
    return await desk.world.jobs.get(name)


async def _begin(desk: Desk, job: CrawlJob) -> None:
    try:
        await begin_drafted(desk.home, job, await registry.read_site_decisions(desk.world))
    except StoreError:
        raise  # it is not the crawl's fault; the next look goes on with it
    except UnknownName:
        return  # it was deleted meanwhile
    except GeomiError as error:
        await jobs.fail(desk.world, job, error.message)
