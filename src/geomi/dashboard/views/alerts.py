"""Alerts: the alarms of crawls and datasets."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from geomi.api.guard import needs
from geomi.api.paging import cut_to_limit, decode_cursor
from geomi.dashboard.guard import DashboardRequestDep, PageRoute
from geomi.service import alarms
from geomi.service.access.keys import KeyScope

SHOWN = 30

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/alerts", openapi_extra=needs(KeyScope.READ))
async def list_alerts(visit: DashboardRequestDep) -> Response:
    """List alarms, newest first."""
    before = decode_cursor(visit.asked("cursor") or None, alarms.NAME)
    found = await alarms.page(visit.desk, before=before, limit=SHOWN + 1)
    shown, cursor = cut_to_limit(found, SHOWN, lambda one: one.id)
    return visit.page("alerts.html", rows=shown, cursor=cursor)
