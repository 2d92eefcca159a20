"""The first page: running crawls, their speed, waiting crawls, and alarms."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from geomi.api.guard import needs
from geomi.dashboard.guard import DashboardRequestDep, PageRoute
from geomi.dashboard.views.crawls import crawl_rows
from geomi.model.job import BEGUN, CrawlJob, JobFilter
from geomi.service import alarms, collections
from geomi.service.access import tenants
from geomi.service.access.keys import KeyScope
from geomi.service.crawling import crawls
from geomi.service.service import TenantService

SHOWN = 8
ALARMS = 5
MAX_AT_WORK = 25  # of each state; tenants have three at work unless somebody says otherwise

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/", openapi_extra=needs(KeyScope.READ))
async def overview(visit: DashboardRequestDep) -> Response:
    """Show how things stand."""
    desk = visit.desk
    active = await crawl_rows(desk, await _at_work(desk))
    known = {row.job.id for row in active}
    newest = await crawls.page(desk, JobFilter(), before="", limit=SHOWN)
    others = await crawl_rows(desk, [job for job in newest if job.id not in known])
    counts = (await collections.counts(desk)).values()
    return visit.page(
        "overview.html",
        rows=sorted((*active, *others), key=lambda row: row.job.id, reverse=True),
        used=await tenants.usage(desk),
        queued=sum(row.queued for row in active),
        per_minute=sum(row.per_minute for row in active),
        documents=sum(one.indexed for one in counts),
        alarms=await alarms.page(desk, before="", limit=ALARMS),
    )


async def _at_work(desk: TenantService) -> list[CrawlJob]:
    """List the crawls that have begun and are not over, however old they are."""
    found: list[CrawlJob] = []
    for state in BEGUN:
        found += await crawls.page(desk, JobFilter(state=state), before="", limit=MAX_AT_WORK)
    return found
