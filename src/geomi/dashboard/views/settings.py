"""Settings: usage; keys, for callers who may create them; tenants, for an administrator."""

from __future__ import annotations

from http import HTTPStatus

from fastapi import APIRouter
from starlette.responses import Response

from geomi.api.guard import needs
from geomi.api.schema.admin import KeyRequest, QuotaRequest, TenantRequest
from geomi.dashboard.crawl_form import FORM, Faults, fault_of, parse_payload
from geomi.dashboard.guard import DashboardRequestDep, PageRoute
from geomi.dashboard.pages import DashboardRequest
from geomi.errors import FieldRefused, GeomiError
from geomi.service.access import keys, tenants
from geomi.service.access.keys import ApiKey, CreatedKey, KeyRole, KeyScope

TENANTS = 100
KEYS = 200  # shown, those that are valid first
QUOTAS = ("maxConcurrentCrawls", "maxWaiting", "maxDailyPages", "maxStorageBytes")

router = APIRouter(route_class=PageRoute, include_in_schema=False)
READ, OWN = needs(KeyScope.READ), needs(KeyScope.ADMIN)
SYSTEM = needs(KeyScope.ADMIN, role=KeyRole.ADMIN)


@router.get("/settings", openapi_extra=READ)
async def look(visit: DashboardRequestDep) -> Response:
    """Show what can be set."""
    return await _page(visit, {})


@router.post("/settings/keys", openapi_extra=OWN, operation_id="createKey")
async def create_key(visit: DashboardRequestDep) -> Response:
    """Make a key, of another tenant where an administrator says so, and show it, only now."""
    payload: dict[str, object] = {
        "scopes": visit.form.every("scopes"),
        "label": visit.form.text("label"),
    }
    request, faults = parse_payload(KeyRequest, payload)
    if not isinstance(request, KeyRequest):
        return await _page(visit, faults)
    try:
        tenant = await _tenant(visit)
        minted = await keys.create(visit.service, request.wish(tenant))
    except GeomiError as error:
        return await _page(visit, {FORM: error.message})
    return await _page(visit, {}, minted)


@router.post("/settings/keys/{key_id}/revoke", openapi_extra=OWN, operation_id="revokeKey")
async def revoke_key(key_id: str, visit: DashboardRequestDep) -> Response:
    """Revoke a key; the service refuses it from now on."""
    await keys.revoke(visit.service, None if visit.is_admin else visit.who.tenant, key_id)
    return visit.go("/settings")


@router.post("/settings/tenants", openapi_extra=SYSTEM, operation_id="createTenant")
async def create_tenant(visit: DashboardRequestDep) -> Response:
    """Register a tenant."""
    payload: dict[str, object] = {
        "name": visit.form.text("name"),
        "title": visit.form.text("title"),
    }
    request, faults = parse_payload(TenantRequest, payload)
    if not isinstance(request, TenantRequest):
        return await _page(visit, faults)
    try:
        await tenants.create(visit.service, request.name, title=request.title)
    except GeomiError as error:
        return await _page(visit, {"name": error.message})
    return visit.go("/settings")


@router.post("/settings/tenants/{name}/quota", openapi_extra=SYSTEM, operation_id="changeTenant")
async def change_quota(name: str, visit: DashboardRequestDep) -> Response:
    """Give a tenant other limits."""
    try:
        payload: dict[str, object] = {one: visit.form.whole(one) for one in QUOTAS}
    except FieldRefused as error:
        return await _page(visit, fault_of(error))
    quota, faults = parse_payload(QuotaRequest, payload)
    if not isinstance(quota, QuotaRequest):
        return await _page(visit, faults)
    await tenants.change(visit.service, name, quota=quota.quota())
    return visit.go("/settings")


async def _tenant(visit: DashboardRequest) -> str:
    """Return whose key is to be made: the caller's own tenant unless an administrator names one."""
    named = visit.form.text("tenant")
    if not named or not visit.is_admin:
        return visit.who.tenant
    return (await tenants.find(visit.service, named)).name


async def _page(
    visit: DashboardRequest, faults: Faults, minted: CreatedKey | None = None
) -> Response:
    shown = None if visit.is_admin else visit.who.tenant
    found = await keys.of_tenant(visit.service, shown) if visit.may(KeyScope.ADMIN) else []
    return visit.page(
        "settings.html",
        status=HTTPStatus.UNPROCESSABLE_ENTITY if faults else HTTPStatus.OK,
        used=await tenants.usage(visit.desk),
        keys=sorted(found, key=_rank)[:KEYS],
        every_scope=tuple(KeyScope),
        tenants=(
            await tenants.page(visit.service, after="", limit=TENANTS) if visit.is_admin else []
        ),
        quotas=QUOTAS,
        form=visit.form,
        faults=faults,
        minted=minted,
    )


def _rank(key: ApiKey) -> tuple[bool, float]:
    """Put keys that are valid first, and of them the newest."""
    return key.revoked_at_s is not None, -key.created_at_s
