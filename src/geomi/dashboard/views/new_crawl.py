"""A new crawl: its form, an estimate of what it would take, and its start."""

from __future__ import annotations

from http import HTTPStatus

from fastapi import APIRouter
from starlette.responses import Response

from geomi.api.guard import needs
from geomi.api.problems import told_of
from geomi.dashboard import chart
from geomi.dashboard.crawl_form import (
    ACTIONS,
    FLAGS,
    FORM,
    KINDS,
    NUMBERS,
    TYPES,
    WHOLES,
    Faults,
    bounds,
    choices,
    crawl_of,
    defaults,
    fault_of,
    page_types,
    read_crawl,
)
from geomi.dashboard.form import NO_FORM, SubmittedForm
from geomi.dashboard.guard import DashboardRequestDep, PageRoute
from geomi.dashboard.pages import DashboardRequest
from geomi.errors import FieldRefused, GeomiError
from geomi.service import collections
from geomi.service.access.keys import KeyScope
from geomi.service.crawling import crawls, previews
from geomi.service.crawling.crawls import PROFILES
from geomi.service.crawling.previews import CrawlForecast

SUGGESTED = 50  # collections that a browser offers
SHOWN = 8  # folders and rules of a plan
WRITE = needs(KeyScope.WRITE)

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/crawls/new", openapi_extra=WRITE)
async def blank(visit: DashboardRequestDep) -> Response:
    """Show an empty form."""
    return await _form(visit, {})


@router.post("/crawls/new", openapi_extra=WRITE, operation_id="startCrawl")
async def start(visit: DashboardRequestDep) -> Response:
    """Start a crawl, or look at what it would take; whatever is wrong is told beside its field."""
    asked = read_crawl(visit.form)
    request = crawl_of(asked)
    if request is None:
        return await _form(visit, asked.faults)
    try:
        if visit.form.text("do") == "look":
            return await _form(
                visit, {}, await previews.forecast_crawl(visit.desk, request.order())
            )
        job = await crawls.start(visit.desk, request.order())
    except FieldRefused as error:
        return await _form(visit, fault_of(error))
    except GeomiError as error:
        return await _form(visit, {FORM: " ".join(told_of(error)).strip()})
    return visit.go(f"/crawls/{job.id}")


async def _form(
    visit: DashboardRequest, faults: Faults, plan: CrawlForecast | None = None
) -> Response:
    sent = visit.form is not NO_FORM
    known = await collections.page(visit.desk, after="", limit=SUGGESTED)
    flags = {name: visit.form.is_set(name) if sent else defaults()[name] for name in FLAGS}
    return visit.page(
        "new_crawl.html",
        status=HTTPStatus.UNPROCESSABLE_ENTITY if faults else HTTPStatus.OK,
        form=visit.form if sent else SubmittedForm({"collectionId": (visit.asked("collection"),)}),
        faults=faults,
        flags=flags,
        bounds=bounds(),
        numbers=(*WHOLES, *NUMBERS),
        page_types=page_types(),
        choices=choices(),
        types_name=TYPES,
        actions=ACTIONS,
        kinds=KINDS,
        profiles=PROFILES,
        collections=known,
        plan=_shown(plan) if plan else None,
    )


def _shown(plan: CrawlForecast) -> dict[str, object]:
    """Return of a plan what a page shows."""
    found, expected = plan.found, plan.expected
    forbidden = [(line, len(urls)) for line, urls in found.disallowed.items()]
    ruled = [(rule, many) for rule, (many, _) in found.excluded.items()]
    return {
        "expected": expected,
        "folders": chart.bars(expected.folders[:SHOWN]),
        "robots": chart.bars(sorted(forbidden, key=lambda one: -one[1])[:SHOWN]),
        "rules": chart.bars(sorted(ruled, key=lambda one: -one[1])[:SHOWN]),
        "hosts": found.hosts,
        "lists": [one for one in found.lists if not one.is_missing],
        "problems": found.problems,
        "suspects": expected.suspects,
    }
