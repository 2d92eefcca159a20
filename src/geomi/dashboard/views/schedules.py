"""Schedules: crawls that are started again and again."""

from __future__ import annotations

from http import HTTPStatus

from fastapi import APIRouter
from starlette.responses import Response

from geomi.api.guard import needs
from geomi.api.schema.schedule import ScheduleRequest
from geomi.dashboard.crawl_form import FORM, Faults, fault_of, parse_payload, read_crawl
from geomi.dashboard.guard import DashboardRequestDep, PageRoute
from geomi.dashboard.pages import DashboardRequest
from geomi.errors import FieldRefused, GeomiError
from geomi.service.access.keys import KeyScope
from geomi.service.crawling import schedules
from geomi.service.crawling.schedules import MAX_SCHEDULES

MINUTE_S = 60

router = APIRouter(route_class=PageRoute, include_in_schema=False)
READ, WRITE = needs(KeyScope.READ), needs(KeyScope.WRITE)


@router.get("/schedules", openapi_extra=READ)
async def list_schedules(visit: DashboardRequestDep) -> Response:
    """List schedules, with a form for another."""
    return await _page(visit, {})


@router.post("/schedules", openapi_extra=WRITE, operation_id="createSchedule")
async def create(visit: DashboardRequestDep) -> Response:
    """Keep a schedule."""
    asked = read_crawl(visit.form)
    payload: dict[str, object] = {"crawl": asked.payload, "title": visit.form.text("title")}
    if visit.form.text("cron"):
        payload["cron"] = visit.form.text("cron")
    if visit.form.text("minutes"):
        try:
            payload["intervalSeconds"] = visit.form.whole("minutes") * MINUTE_S
        except FieldRefused as error:
            asked.faults["minutes"] = error.message
    request, faults = parse_payload(ScheduleRequest, payload)
    faults = asked.faults | faults
    if faults or not isinstance(request, ScheduleRequest):
        return await _page(visit, faults)
    try:
        await schedules.create(
            visit.desk, request.crawl.order(), request.timing(), title=request.title
        )
    except FieldRefused as error:
        return await _page(visit, fault_of(error))
    except GeomiError as error:
        return await _page(visit, {FORM: error.message})
    return visit.go("/schedules")


@router.post("/schedules/{name}/delete", openapi_extra=WRITE, operation_id="deleteSchedule")
async def delete(name: str, visit: DashboardRequestDep) -> Response:
    """Forget a schedule."""
    await schedules.delete(visit.desk, name)
    return visit.go("/schedules")


@router.post("/schedules/{name}/switch", openapi_extra=WRITE, operation_id="changeSchedule")
async def switch(name: str, visit: DashboardRequestDep) -> Response:
    """Let a schedule rest, or go on."""
    await schedules.change(visit.desk, name, is_enabled=visit.form.is_set("on"))
    return visit.go("/schedules")


async def _page(visit: DashboardRequest, faults: Faults) -> Response:
    return visit.page(
        "schedules.html",
        status=HTTPStatus.UNPROCESSABLE_ENTITY if faults else HTTPStatus.OK,
        rows=await schedules.page(visit.desk, after="", limit=MAX_SCHEDULES),
        form=visit.form,
        faults=faults,
    )
