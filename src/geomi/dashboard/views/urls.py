"""The URLs of a crawl by their outcome, and the reason of each."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from geomi.api.guard import needs
from geomi.api.schema.wire import MAX_URL_CHARS
from geomi.dashboard.form import choice
from geomi.dashboard.guard import DashboardRequestDep, PageRoute
from geomi.dashboard.pages import DashboardRequest
from geomi.engine.inspect.why import Explanation
from geomi.errors import FieldRefused
from geomi.model.verdict import Outcome
from geomi.service import documents
from geomi.service.access.keys import KeyScope
from geomi.service.crawling import crawls, urls
from geomi.service.crawling.urls import UrlFilter, UrlStatus

SHOWN = 50
EXAMPLES = 3  # of links that a rule kept out

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/crawls/{job_id}/urls", openapi_extra=needs(KeyScope.READ))
async def browse(job_id: str, visit: DashboardRequestDep) -> Response:
    """List URLs, one of them with its reasons if that is asked for."""
    job = await crawls.find(visit.desk, job_id)
    which = UrlFilter(
        choice(UrlStatus, visit.asked("status")),
        choice(Outcome, visit.asked("outcome")),
        visit.asked("prefix")[:MAX_URL_CHARS],
    )
    place = urls.read_place(visit.asked("cursor"))
    part = await urls.page(visit.desk, job, which, after=place, limit=SHOWN)
    why, problem = await _why(visit, job_id)
    excluded = await visit.desk.world.store.census.exclusions(job.id)
    return visit.page(
        "urls.html",
        job=job,
        rows=part.rows,
        cursor=urls.place_text(part.after) if part.after else "",
        here=visit.asked("cursor"),
        which=which,
        statuses=tuple(UrlStatus),
        outcomes=tuple(Outcome),
        why=why,
        asked_url=visit.asked("url"),
        problem=problem,
        excluded=[(rule, many, examples[:EXAMPLES]) for rule, (many, examples) in excluded.items()],
    )


async def _why(visit: DashboardRequest, job_id: str) -> tuple[Explanation | None, str]:
    """Explain the URL that is asked about; what cannot be one is told, not refused."""
    url = visit.asked("url")
    if not url:
        return None, ""
    try:
        return await documents.explain(visit.desk, job_id, url[:MAX_URL_CHARS]), ""
    except FieldRefused as error:
        return None, error.message
