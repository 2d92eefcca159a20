"""Providers, for an administrator: register, review, crawl, erase (API-14, G-20)."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from geomi.api.guard import GuardedRoute, TenantServiceDep, needs
from geomi.api.routes.crawls import started_crawl_response
from geomi.api.schema.crawl import CrawlResponse
from geomi.api.schema.provider import (
    ErasureQuery,
    ProviderCrawlRequest,
    ProviderErasedResponse,
    ProviderListResponse,
    ProviderRequest,
    ProviderResponse,
    ProviderReviewRequest,
    ProviderScheduleRequest,
    provider_response,
)
from geomi.api.schema.schedule import ScheduleResponse
from geomi.model.site import Provider
from geomi.service import providers
from geomi.service.access.keys import KeyRole, KeyScope
from geomi.service.service import TenantService

router = APIRouter(route_class=GuardedRoute, tags=["providers"])
ADMIN = needs(KeyScope.ADMIN, role=KeyRole.ADMIN)

ProviderId = Annotated[
    str,
    Path(
        alias="provider",
        pattern=r"^[a-z0-9][a-z0-9-]{0,63}$",
        description="The provider's key or its UUID.",
        examples=["acme-docs"],
    ),
]


@router.post(
    "/admin/providers",
    operation_id="registerProvider",
    status_code=HTTPStatus.CREATED,
    openapi_extra=ADMIN,
    summary="Register a provider",
)
async def register(
    asked: ProviderRequest, desk: TenantServiceDep, response: Response
) -> ProviderResponse:
    """Register a provider, unless its terms forbid crawling.

    `derived` names the fields that the registration lacked or had in another form. Terms that it
    does not mention count as not reviewed, and each crawl of the provider warns of that.
    """
    read = await providers.register(desk, asked.payload())
    response.headers["Location"] = f"/api/v1/admin/providers/{read.provider.key}"
    return await _told(desk, read.provider, read.derived)


@router.get(
    "/admin/providers",
    operation_id="listProviders",
    openapi_extra=ADMIN,
    summary="List providers",
)
async def list_providers(desk: TenantServiceDep) -> ProviderListResponse:
    """List providers: those that come with geomi, and the registered ones."""
    every = [await _told(desk, one) for one in await providers.every(desk)]
    return ProviderListResponse(providers=tuple(every))


@router.get(
    "/admin/providers/{provider}",
    operation_id="getProvider",
    openapi_extra=ADMIN,
    summary="Show a provider",
)
async def get(provider: ProviderId, desk: TenantServiceDep) -> ProviderResponse:
    """Return a provider."""
    return await _told(desk, await providers.find(desk, provider))


@router.post(
    "/admin/providers/{provider}/review",
    operation_id="reviewProvider",
    openapi_extra=ADMIN,
    summary="Record what a provider's terms say",
)
async def review(
    provider: ProviderId, asked: ProviderReviewRequest, desk: TenantServiceDep
) -> ProviderResponse:
    """Record that a person read a provider's terms, and whether they allow crawling."""
    return await _told(
        desk,
        await providers.review(desk, provider, allows=asked.allows, reviewed_at=asked.reviewed_at),
    )


@router.post(
    "/admin/providers/{provider}/crawls",
    operation_id="crawlProvider",
    status_code=HTTPStatus.ACCEPTED,
    openapi_extra=ADMIN,
    summary="Crawl a provider",
)
async def crawl(
    provider: ProviderId, asked: ProviderCrawlRequest, desk: TenantServiceDep, response: Response
) -> CrawlResponse:
    """Start a crawl of a provider's documents, with its registered settings."""
    return await started_crawl_response(
        desk, await providers.crawl(desk, provider, asked.collection_id), response
    )


@router.post(
    "/admin/providers/{provider}/schedules",
    operation_id="scheduleProvider",
    status_code=HTTPStatus.CREATED,
    openapi_extra=ADMIN,
    summary="Schedule crawls of a provider",
)
async def schedule(
    provider: ProviderId, asked: ProviderScheduleRequest, desk: TenantServiceDep, response: Response
) -> ScheduleResponse:
    """Schedule crawls of a provider's documents: every week, or by a cron line."""
    made = await providers.schedule(desk, provider, asked.collection_id, asked.cron)
    response.headers["Location"] = f"/api/v1/schedules/{made.id}"
    return ScheduleResponse.of(made)


@router.delete(
    "/admin/providers/{provider}",
    operation_id="removeProvider",
    status_code=HTTPStatus.NO_CONTENT,
    openapi_extra=ADMIN,
    summary="Delete a registration",
)
async def remove(provider: ProviderId, desk: TenantServiceDep) -> None:
    """Delete a registration; collected pages stay."""
    await providers.remove(desk, provider)


@router.delete(
    "/admin/providers/{provider}/data",
    operation_id="eraseProviderData",
    openapi_extra=ADMIN,
    summary="Erase a provider's data",
)
async def erase(
    provider: ProviderId, wanted: Annotated[ErasureQuery, Query()], desk: TenantServiceDep
) -> ProviderErasedResponse:
    """Erase everything that any tenant has collected of a provider, and forbid further crawls."""
    return ProviderErasedResponse.of(await providers.erase(desk, provider, wanted.reason))


async def _told(
    desk: TenantService, provider: Provider, derived: Mapping[str, str] | None = None
) -> ProviderResponse:
    decision = await providers.channel_of(desk, provider)
    return provider_response(
        provider, decision, is_preset=providers.is_preset(provider), derived=derived or {}
    )
