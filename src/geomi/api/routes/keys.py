"""Keys: a tenant's own, and, for an administrator, those of any tenant."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Path

from geomi.api.guard import CallerDep, GuardedRoute, ServiceDep, needs
from geomi.api.schema.admin import KeyCreatedResponse, KeyListResponse, KeyRequest, KeyResponse
from geomi.service.access import keys, tenants
from geomi.service.access.keys import KeyRole, KeyScope

router = APIRouter(route_class=GuardedRoute, tags=["keys"])
OWN = needs(KeyScope.ADMIN)
OWN_SECRET = needs(KeyScope.ADMIN, shows_secret=True)
SYSTEM = needs(KeyScope.ADMIN, role=KeyRole.ADMIN)
SYSTEM_SECRET = needs(KeyScope.ADMIN, role=KeyRole.ADMIN, shows_secret=True)

KeyId = Annotated[str, Path(alias="keyId", pattern=r"^[0-9a-f]{12}$", examples=["0a1b2c3d4e5f"])]
TenantId = Annotated[
    str, Path(alias="tenant", pattern=r"^[a-z0-9][a-z0-9-]{0,62}$", examples=["acme"])
]


@router.post(
    "/keys",
    operation_id="createKey",
    status_code=HTTPStatus.CREATED,
    openapi_extra=OWN_SECRET,
    summary="Create a key",
)
async def create(asked: KeyRequest, caller: CallerDep, service: ServiceDep) -> KeyCreatedResponse:
    """Create a key of the caller's tenant; the service shows it only now."""
    return KeyCreatedResponse.minted(await keys.create(service, asked.wish(caller.tenant)))


@router.get("/keys", operation_id="listKeys", openapi_extra=OWN, summary="List keys")
async def list_keys(caller: CallerDep, service: ServiceDep) -> KeyListResponse:
    """List the keys of the caller's tenant, revoked ones included."""
    return await _keys(service, caller.tenant)


@router.post(
    "/keys/{keyId}/revoke", operation_id="revokeKey", openapi_extra=OWN, summary="Revoke a key"
)
async def revoke(key_id: KeyId, caller: CallerDep, service: ServiceDep) -> KeyResponse:
    """Revoke a key; the service refuses it from now on."""
    return KeyResponse.of(await keys.revoke(service, caller.tenant, key_id))


@router.post(
    "/keys/{keyId}/rotate",
    operation_id="rotateKey",
    status_code=HTTPStatus.CREATED,
    openapi_extra=OWN_SECRET,
    summary="Replace a key",
)
async def rotate(key_id: KeyId, caller: CallerDep, service: ServiceDep) -> KeyCreatedResponse:
    """Create a key like another, show it, and revoke the other."""
    return KeyCreatedResponse.minted(await keys.rotate(service, caller.tenant, key_id))


@router.post(
    "/admin/tenants/{tenant}/keys",
    operation_id="createTenantKey",
    status_code=HTTPStatus.CREATED,
    openapi_extra=SYSTEM_SECRET,
    summary="Create a key of a tenant",
)
async def create_for(
    tenant: TenantId, asked: KeyRequest, service: ServiceDep
) -> KeyCreatedResponse:
    """Create a key of any tenant; the service shows it only now."""
    found = await tenants.find(service, tenant)
    return KeyCreatedResponse.minted(await keys.create(service, asked.wish(found.name)))


@router.get(
    "/admin/tenants/{tenant}/keys",
    operation_id="listTenantKeys",
    openapi_extra=SYSTEM,
    summary="List the keys of a tenant",
)
async def list_for(tenant: TenantId, service: ServiceDep) -> KeyListResponse:
    """List the keys of any tenant."""
    return await _keys(service, (await tenants.find(service, tenant)).name)


@router.post(
    "/admin/tenants/{tenant}/keys/{keyId}/revoke",
    operation_id="revokeTenantKey",
    openapi_extra=SYSTEM,
    summary="Revoke a key of a tenant",
)
async def revoke_for(tenant: TenantId, key_id: KeyId, service: ServiceDep) -> KeyResponse:
    """Revoke a key of any tenant."""
    return KeyResponse.of(await keys.revoke(service, tenant, key_id))


async def _keys(service: ServiceDep, tenant: str) -> KeyListResponse:
    found = await keys.of_tenant(service, tenant)
    return KeyListResponse(keys=tuple(KeyResponse.of(key) for key in found))
