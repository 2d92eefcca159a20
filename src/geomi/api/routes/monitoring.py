"""Metrics for Prometheus, and the alarms of crawls and datasets."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import PlainTextResponse, Response

from geomi.adapters.telemetry.metrics import CONTENT_TYPE
from geomi.api.guard import GuardedRoute, ServiceDep, TenantServiceDep, app_state_of_request, needs
from geomi.api.paging import cut_to_limit, decode_cursor
from geomi.api.schema.alarms import AlarmListResponse, AlarmResponse
from geomi.api.schema.wire import ListQuery
from geomi.service import alarms
from geomi.service.access.keys import KeyRole, KeyScope
from geomi.service.queue_depths import measure_depths

scraping = APIRouter(route_class=GuardedRoute)
router = APIRouter(route_class=GuardedRoute)


@scraping.get(
    "/metrics",
    operation_id="metrics",
    openapi_extra=needs(KeyScope.READ, role=KeyRole.ADMIN),
    response_class=PlainTextResponse,
    summary="Show metrics for Prometheus",
    tags=["health"],
)
async def metrics(request: Request, service: ServiceDep) -> Response:
    """Return the counters of this process since its start, and the queues of the store."""
    counted = app_state_of_request(request).metrics
    depths = await measure_depths(service)
    counted.waiting.set({(tenant,): many for tenant, many in depths.waiting.items()})
    counted.jobs.set({(state,): many for state, many in depths.jobs.items()})
    counted.workers.set({(role,): many for role, many in depths.workers.items()})
    counted.deliveries.set({(): depths.deliveries})
    counted.chunks.set(depths.chunks)
    counted.seeds.tasks.set(depths.seed_tasks)
    counted.seeds.dead_letters.set(depths.dead_letters)
    return PlainTextResponse(counted.text(), media_type=CONTENT_TYPE)


@router.get(
    "/alarms",
    operation_id="listAlarms",
    openapi_extra=needs(KeyScope.READ),
    summary="List alarms, newest crawls first",
    tags=["usage"],
)
async def list_alarms(
    wanted: Annotated[ListQuery, Query()], desk: TenantServiceDep
) -> AlarmListResponse:
    """List alarms of crawls and of the dataset: errors, slow hosts, dead letters."""
    before = decode_cursor(wanted.cursor, alarms.NAME)
    found = await alarms.page(desk, before=before, limit=wanted.limit + 1)
    shown, cursor = cut_to_limit(found, wanted.limit, lambda one: one.id)
    return AlarmListResponse(alarms=tuple(map(AlarmResponse.of, shown)), next_cursor=cursor)
