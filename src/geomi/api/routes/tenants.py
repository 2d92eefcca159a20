"""Tenants, for an administrator; usage, costs and the audit log, for everybody their own."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Query, Response

from geomi.api.guard import CallerDep, GuardedRoute, ServiceDep, TenantServiceDep, needs
from geomi.api.paging import cut_to_limit, decode_cursor
from geomi.api.routes.keys import TenantId
from geomi.api.schema.admin import (
    AuditEntryResponse,
    AuditLogResponse,
    AuditQuery,
    CostLineResponse,
    CostListResponse,
    CostQuery,
    TenantChange,
    TenantErasedResponse,
    TenantListResponse,
    TenantRequest,
    TenantResponse,
    UsageResponse,
)
from geomi.api.schema.provider import ErasureQuery
from geomi.api.schema.wire import ListQuery
from geomi.errors import WrongState
from geomi.model.index.language_model import MICROS
from geomi.service.access import audit, tenants
from geomi.service.access.keys import KeyRole, KeyScope
from geomi.service.crawling import crawls
from geomi.service.service import TenantService
from geomi.service.tenant_deletion import erase_tenant

router = APIRouter(route_class=GuardedRoute)
READ, ADMIN = needs(KeyScope.READ), needs(KeyScope.ADMIN, role=KeyRole.ADMIN)


@router.post(
    "/admin/tenants",
    operation_id="createTenant",
    status_code=HTTPStatus.CREATED,
    openapi_extra=ADMIN,
    summary="Register a tenant",
    tags=["administration"],
)
async def create(asked: TenantRequest, service: ServiceDep, response: Response) -> TenantResponse:
    """Register a tenant; `createTenantKey` creates its first key."""
    made = await tenants.create(service, asked.name, title=asked.title, quota=asked.quota.quota())
    response.headers["Location"] = f"/api/v1/admin/tenants/{made.name}"
    return TenantResponse.of(made)


@router.get(
    "/admin/tenants",
    operation_id="listTenants",
    openapi_extra=ADMIN,
    summary="List tenants",
    tags=["administration"],
)
async def list_tenants(
    wanted: Annotated[ListQuery, Query()], service: ServiceDep
) -> TenantListResponse:
    """List tenants by their names."""
    after = decode_cursor(wanted.cursor, tenants.NAME)
    found = await tenants.page(service, after=after, limit=wanted.limit + 1)
    shown, cursor = cut_to_limit(found, wanted.limit, lambda tenant: tenant.name)
    return TenantListResponse(tenants=tuple(map(TenantResponse.of, shown)), next_cursor=cursor)


@router.get(
    "/admin/tenants/{tenant}",
    operation_id="getTenant",
    openapi_extra=ADMIN,
    summary="Show a tenant",
    tags=["administration"],
)
async def get(tenant: TenantId, service: ServiceDep) -> TenantResponse:
    """Return a tenant and its quota."""
    return TenantResponse.of(await tenants.find(service, tenant))


@router.patch(
    "/admin/tenants/{tenant}",
    operation_id="changeTenant",
    openapi_extra=ADMIN,
    summary="Change a tenant",
    tags=["administration"],
)
async def change(tenant: TenantId, asked: TenantChange, service: ServiceDep) -> TenantResponse:
    """Change the title of a tenant, or replace all its limits."""
    quota = asked.quota.quota() if asked.quota else None
    return TenantResponse.of(await tenants.change(service, tenant, title=asked.title, quota=quota))


@router.delete(
    "/admin/tenants/{tenant}",
    operation_id="eraseTenant",
    openapi_extra=ADMIN,
    summary="Erase a tenant with all its data",
    tags=["administration"],
)
async def erase(
    tenant: TenantId, why: Annotated[ErasureQuery, Query()], caller: CallerDep, service: ServiceDep
) -> TenantErasedResponse:
    """Erase a tenant: its keys, crawls, pages, documents, schedules and webhooks."""
    if tenant == caller.tenant:
        raise WrongState("this key is one of the tenant's own", hint="use another tenant's key")
    return TenantErasedResponse.of(await erase_tenant(service, tenant, why.reason))


@router.get(
    "/admin/audit",
    operation_id="listSystemAudit",
    openapi_extra=ADMIN,
    summary="Read the audit log of all tenants",
    tags=["administration"],
)
async def system_audit(
    wanted: Annotated[AuditQuery, Query()], service: ServiceDep
) -> AuditLogResponse:
    """List changes through the API, newest first."""
    return await _log(service.office, wanted)


@router.get(
    "/audit",
    operation_id="listAudit",
    openapi_extra=needs(KeyScope.ADMIN),
    summary="Read the tenant's audit log",
    tags=["usage"],
)
async def own_audit(
    wanted: Annotated[AuditQuery, Query()], desk: TenantServiceDep
) -> AuditLogResponse:
    """List changes with the tenant's keys, newest first."""
    return await _log(desk, wanted)


@router.get(
    "/usage",
    operation_id="getUsage",
    openapi_extra=READ,
    summary="Show the usage of the quota",
    tags=["usage"],
)
async def get_usage(desk: TenantServiceDep) -> UsageResponse:
    """Return what the tenant may use, and has used."""
    return UsageResponse.of(await tenants.usage(desk))


@router.get(
    "/costs",
    operation_id="getCosts",
    openapi_extra=READ,
    summary="Show what models have cost",
    tags=["usage"],
)
async def get_costs(
    wanted: Annotated[CostQuery, Query()], desk: TenantServiceDep
) -> CostListResponse:
    """Return the use and the cost of models for the tenant's crawls, or for one of them."""
    if wanted.job_id:
        await crawls.find(desk, wanted.job_id)
    lines = await tenants.costs(desk, wanted.job_id or "")
    total = sum(line.micros for line in lines) / MICROS
    return CostListResponse(lines=tuple(map(CostLineResponse.of, lines)), total_usd=total)


async def _log(desk: TenantService, wanted: AuditQuery) -> AuditLogResponse:
    before = decode_cursor(wanted.cursor, crawls.JOB_ID)
    found = await audit.page(desk, before=before, limit=wanted.limit + 1)
    shown, cursor = cut_to_limit(found, wanted.limit, lambda entry: entry.id)
    return AuditLogResponse(entries=tuple(map(AuditEntryResponse.of, shown)), next_cursor=cursor)
