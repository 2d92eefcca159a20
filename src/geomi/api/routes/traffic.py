"""How much sites are visited: the rank list, and the tenant's own table."""

from __future__ import annotations

from http import HTTPStatus

from fastapi import APIRouter

from geomi.api.guard import GuardedRoute, TenantServiceDep, needs
from geomi.api.schema.traffic import ORIGIN, TrafficRequest, TrafficResponse
from geomi.app.use.own_traffic import (
    put_own_traffic,
    read_amounts,
    remove_own_traffic,
    stored_table,
)
from geomi.app.use.ranks import stored_list
from geomi.service.access.keys import KeyScope

router = APIRouter(route_class=GuardedRoute, tags=["traffic"])
READ, WRITE = needs(KeyScope.READ), needs(KeyScope.WRITE)


@router.get(
    "/traffic", operation_id="getTraffic", openapi_extra=READ, summary="Show what traffic is known"
)
async def show(desk: TenantServiceDep) -> TrafficResponse:
    """Return where the rank list and the table of your own came from, and when."""
    return TrafficResponse.of(await stored_list(desk.home), await stored_table(desk.home))


@router.put(
    "/traffic", operation_id="putTraffic", openapi_extra=WRITE, summary="Replace your own table"
)
async def put(asked: TrafficRequest, desk: TenantServiceDep) -> TrafficResponse:
    """Let views or shares of your own count in place of ranks, in the order `weighted`."""
    pairs = ((f"place {at}", one.place, one.views) for at, one in enumerate(asked.places, 1))
    table = await put_own_traffic(desk.home, read_amounts(pairs, ORIGIN), ORIGIN)
    return TrafficResponse.of(await stored_list(desk.home), table)


@router.delete(
    "/traffic",
    operation_id="deleteTraffic",
    status_code=HTTPStatus.NO_CONTENT,
    openapi_extra=WRITE,
    summary="Delete your own table",
)
async def delete(desk: TenantServiceDep) -> None:
    """Delete the table of your own, so that ranks count again."""
    await remove_own_traffic(desk.home)
