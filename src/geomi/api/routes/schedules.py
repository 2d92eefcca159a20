"""Schedules and webhooks, with what was delivered to them."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from geomi.api.guard import GuardedRoute, TenantServiceDep, needs
from geomi.api.paging import cut_to_limit, decode_cursor, encode_cursor
from geomi.api.schema.schedule import (
    DeliveryListQuery,
    DeliveryListResponse,
    DeliveryResponse,
    ScheduleChange,
    ScheduleListResponse,
    ScheduleRequest,
    ScheduleResponse,
    WebhookChange,
    WebhookCreatedResponse,
    WebhookListResponse,
    WebhookRequest,
    WebhookResponse,
)
from geomi.api.schema.wire import ULID, ListQuery
from geomi.service import deliveries, webhooks
from geomi.service.access.keys import KeyScope
from geomi.service.crawling import schedules
from geomi.service.crawling.crawls import JOB_ID

router = APIRouter(route_class=GuardedRoute)
READ, WRITE = needs(KeyScope.READ), needs(KeyScope.WRITE)
EXAMPLE = ["01KA5Q2V7Z3M9X4C8B6N1D0E5F"]

ScheduleId = Annotated[str, Path(alias="scheduleId", pattern=ULID, examples=EXAMPLE)]
HookId = Annotated[str, Path(alias="webhookId", pattern=ULID, examples=EXAMPLE)]
DeliveryId = Annotated[str, Path(alias="deliveryId", pattern=ULID, examples=EXAMPLE)]


@router.post(
    "/schedules",
    operation_id="createSchedule",
    status_code=HTTPStatus.CREATED,
    openapi_extra=WRITE,
    summary="Create a schedule",
    tags=["schedules"],
)
async def create(
    asked: ScheduleRequest, desk: TenantServiceDep, response: Response
) -> ScheduleResponse:
    """Create a schedule, which starts a crawl by a cron line or an interval."""
    made = await schedules.create(
        desk, asked.crawl.order(), asked.timing(), title=asked.title, is_enabled=asked.enabled
    )
    response.headers["Location"] = f"/api/v1/schedules/{made.id}"
    return ScheduleResponse.of(made)


@router.get(
    "/schedules",
    operation_id="listSchedules",
    openapi_extra=READ,
    summary="List schedules",
    tags=["schedules"],
)
async def list_schedules(
    wanted: Annotated[ListQuery, Query()], desk: TenantServiceDep
) -> ScheduleListResponse:
    """List schedules in the order of their creation."""
    found = await schedules.page(
        desk, after=decode_cursor(wanted.cursor, JOB_ID), limit=wanted.limit + 1
    )
    shown, cursor = cut_to_limit(found, wanted.limit, lambda one: one.id)
    return ScheduleListResponse(
        schedules=tuple(map(ScheduleResponse.of, shown)), next_cursor=cursor
    )


@router.get(
    "/schedules/{scheduleId}",
    operation_id="getSchedule",
    openapi_extra=READ,
    summary="Show a schedule",
    tags=["schedules"],
)
async def get(schedule_id: ScheduleId, desk: TenantServiceDep) -> ScheduleResponse:
    """Return a schedule, its next time, and the result of its last run."""
    return ScheduleResponse.of(await schedules.find(desk, schedule_id))


@router.patch(
    "/schedules/{scheduleId}",
    operation_id="changeSchedule",
    openapi_extra=WRITE,
    summary="Change a schedule",
    tags=["schedules"],
)
async def change(
    schedule_id: ScheduleId, asked: ScheduleChange, desk: TenantServiceDep
) -> ScheduleResponse:
    """Change the times or the title of a schedule, or pause it."""
    changed = await schedules.change(
        desk,
        schedule_id,
        title=asked.title,
        timing=asked.timing(),
        is_enabled=asked.enabled,
    )
    return ScheduleResponse.of(changed)


@router.delete(
    "/schedules/{scheduleId}",
    operation_id="deleteSchedule",
    status_code=HTTPStatus.NO_CONTENT,
    openapi_extra=WRITE,
    summary="Delete a schedule",
    tags=["schedules"],
)
async def delete(schedule_id: ScheduleId, desk: TenantServiceDep) -> None:
    """Delete a schedule; its crawls stay."""
    await schedules.delete(desk, schedule_id)


@router.post(
    "/webhooks",
    operation_id="createWebhook",
    status_code=HTTPStatus.CREATED,
    openapi_extra=needs(KeyScope.WRITE, shows_secret=True),
    summary="Create a webhook",
    tags=["webhooks"],
)
async def create_hook(
    asked: WebhookRequest, desk: TenantServiceDep, response: Response
) -> WebhookCreatedResponse:
    """Create a webhook, a URL that the service calls about crawls; its secret is shown only now.

    Deliveries are signed: `Geomi-Signature` is `sha256=` and the HMAC-SHA256, in hex, of
    `Geomi-Timestamp`, a dot and the body.
    """
    made = await webhooks.create(desk, asked.url, asked.events, metadata=dict(asked.metadata))
    response.headers["Location"] = f"/api/v1/webhooks/{made.id}"
    return WebhookCreatedResponse.made(made)


@router.get(
    "/webhooks",
    operation_id="listWebhooks",
    openapi_extra=READ,
    summary="List webhooks",
    tags=["webhooks"],
)
async def list_hooks(
    wanted: Annotated[ListQuery, Query()], desk: TenantServiceDep
) -> WebhookListResponse:
    """List webhooks in the order of their creation."""
    found = await webhooks.page(
        desk, after=decode_cursor(wanted.cursor, JOB_ID), limit=wanted.limit + 1
    )
    shown, cursor = cut_to_limit(found, wanted.limit, lambda one: one.id)
    return WebhookListResponse(webhooks=tuple(map(WebhookResponse.of, shown)), next_cursor=cursor)


@router.get(
    "/webhooks/{webhookId}",
    operation_id="getWebhook",
    openapi_extra=READ,
    summary="Show a webhook",
    tags=["webhooks"],
)
async def get_hook(webhook_id: HookId, desk: TenantServiceDep) -> WebhookResponse:
    """Return a webhook, without its secret."""
    return WebhookResponse.of(await webhooks.find(desk, webhook_id))


@router.patch(
    "/webhooks/{webhookId}",
    operation_id="changeWebhook",
    openapi_extra=WRITE,
    summary="Change a webhook",
    tags=["webhooks"],
)
async def change_hook(
    webhook_id: HookId, asked: WebhookChange, desk: TenantServiceDep
) -> WebhookResponse:
    """Change the URL or the events of a webhook, or pause it."""
    changed = await webhooks.change(
        desk,
        webhook_id,
        url=asked.url,
        events=asked.events,
        is_enabled=asked.enabled,
        metadata=None if asked.metadata is None else dict(asked.metadata),
    )
    return WebhookResponse.of(changed)


@router.delete(
    "/webhooks/{webhookId}",
    operation_id="deleteWebhook",
    status_code=HTTPStatus.NO_CONTENT,
    openapi_extra=WRITE,
    summary="Delete a webhook",
    tags=["webhooks"],
)
async def delete_hook(webhook_id: HookId, desk: TenantServiceDep) -> None:
    """Delete a webhook and its waiting deliveries."""
    await webhooks.delete(desk, webhook_id)


@router.get(
    "/webhooks/{webhookId}/deliveries",
    operation_id="listDeliveries",
    openapi_extra=READ,
    summary="List the deliveries of a webhook",
    tags=["webhooks"],
)
async def list_deliveries(
    webhook_id: HookId, wanted: Annotated[DeliveryListQuery, Query()], desk: TenantServiceDep
) -> DeliveryListResponse:
    """List deliveries, newest first; `state=dead` lists those without tries left."""
    await webhooks.find(desk, webhook_id)
    before = decode_cursor(wanted.cursor, JOB_ID)
    found, rest = await deliveries.page(
        desk, webhook_id, wanted.state, before=before, limit=wanted.limit
    )
    return DeliveryListResponse(
        deliveries=tuple(map(DeliveryResponse.of, found)),
        next_cursor=encode_cursor(rest) if rest else None,
    )


@router.post(
    "/webhooks/{webhookId}/deliveries/{deliveryId}/redeliver",
    operation_id="redeliver",
    status_code=HTTPStatus.ACCEPTED,
    openapi_extra=WRITE,
    summary="Deliver again",
    tags=["webhooks"],
)
async def redeliver(
    webhook_id: HookId, delivery_id: DeliveryId, desk: TenantServiceDep
) -> DeliveryResponse:
    """Try a finished delivery again from the beginning, under the same id."""
    await webhooks.find(desk, webhook_id)
    return DeliveryResponse.of(await deliveries.redeliver(desk, webhook_id, delivery_id))
