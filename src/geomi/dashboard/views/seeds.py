"""Seeds: the progress of a tenant's dataset, its queues, dead letters, and a form to start it."""

from __future__ import annotations

import re
from http import HTTPStatus

from fastapi import APIRouter
from starlette.responses import Response

from geomi.api.guard import needs
from geomi.api.paging import cut_to_limit, decode_cursor
from geomi.api.routes.seeds import LETTER
from geomi.dashboard.crawl_form import FORM, Faults, fault_of
from geomi.dashboard.guard import DashboardRequestDep, PageRoute
from geomi.dashboard.pages import DashboardRequest
from geomi.dataset.partition import RAW_FORM, checked_filter
from geomi.engine.seeds.dead_letters import reason
from geomi.engine.seeds.report import EVERYTHING, make_report
from geomi.errors import FieldRefused, GeomiError
from geomi.model.dataset.seed import OrchestrationReport
from geomi.service import seeds
from geomi.service.access.keys import KeyScope

SHOWN = 30

router = APIRouter(route_class=PageRoute, include_in_schema=False)
READ, WRITE = needs(KeyScope.READ), needs(KeyScope.WRITE)


@router.get("/seeds", openapi_extra=READ)
async def look(visit: DashboardRequestDep) -> Response:
    """Show the tallies, the queues and the dead letters, with a form to begin."""
    return await _page(visit, {})


@router.post("/seeds", openapi_extra=WRITE, operation_id="orchestrateSeeds")
async def orchestrate(visit: DashboardRequestDep) -> Response:
    """Send raw files to be processed."""
    fields = {name: visit.form.text(name) or None for name in ("country", "category", "date")}
    try:
        which = checked_filter(**fields)
        found = await seeds.orchestrate(visit.desk, which, force=visit.form.is_set("force"))
    except FieldRefused as error:
        return await _page(visit, fault_of(error))
    except GeomiError as error:
        return await _page(visit, {FORM: error.message})
    return await _page(visit, {}, found)


@router.post("/seeds/{name}/retry", openapi_extra=WRITE, operation_id="retryDeadLetter")
async def retry(name: str, visit: DashboardRequestDep) -> Response:
    """Let a dead letter be tried again."""
    await seeds.retry(visit.desk, name)
    return visit.go("/seeds")


@router.post("/seeds/{name}/drop", openapi_extra=WRITE, operation_id="dropDeadLetter")
async def drop(name: str, visit: DashboardRequestDep) -> Response:
    """Forget a dead letter."""
    await seeds.drop(visit.desk, name)
    return visit.go("/seeds")


async def _page(
    visit: DashboardRequest, faults: Faults, found: OrchestrationReport | None = None
) -> Response:
    if not seeds.has_dataset(visit.desk):
        status = HTTPStatus.NOT_FOUND if faults else HTTPStatus.OK
        return visit.page("seeds.html", status=status, dataset="")
    after = decode_cursor(visit.asked("cursor") or None, re.compile(LETTER))
    letters = await seeds.page(visit.desk, after=after, limit=SHOWN + 1)
    shown, cursor = cut_to_limit(letters, SHOWN, lambda one: one.id)
    standing = await seeds.standing(visit.desk, EVERYTHING)
    return visit.page(
        "seeds.html",
        status=HTTPStatus.UNPROCESSABLE_ENTITY if faults else HTTPStatus.OK,
        dataset=visit.service.datasets[visit.desk.tenant].name,
        told=make_report(standing),
        queues={"files": standing.seed_queue, "domains": standing.domain_queue},
        letters=[(one, reason(one)) for one in shown],
        cursor=cursor,
        found=found,
        raw_form=RAW_FORM,
        form=visit.form,
        faults=faults,
    )
