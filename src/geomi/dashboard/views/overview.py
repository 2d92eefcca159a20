"""The first page: what runs, how fast, what waits, and what somebody has to know."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from geomi.api.guard import needs
from geomi.dashboard.guard import OfVisit, PageRoute
from geomi.dashboard.views.rows import crawl_rows
from geomi.model.job import JobFilter
from geomi.service import alarms, collections, crawls, usage
from geomi.service.keys import Scope

SHOWN = 8
ALARMS = 5

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/", openapi_extra=needs(Scope.READ))
async def overview(visit: OfVisit) -> Response:
    """Show how things stand."""
    desk = visit.desk
    newest = await crawls.page(desk, JobFilter(), before="", limit=SHOWN)
    rows = await crawl_rows(desk, newest)
    active = [row for row in rows if not row.job.state.is_final]
    counts = (await collections.counts(desk)).values()
    return visit.page(
        "overview.html",
        rows=rows,
        used=await usage.usage(desk),
        queued=sum(row.queued for row in active),
        per_minute=sum(row.per_minute for row in active),
        documents=sum(one.indexed for one in counts),
        alarms=await alarms.page(desk, before="", limit=ALARMS),
    )
