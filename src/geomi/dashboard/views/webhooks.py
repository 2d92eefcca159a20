"""Webhooks: URLs that the service calls about crawls, and their last deliveries."""

from __future__ import annotations

from http import HTTPStatus

from fastapi import APIRouter
from starlette.responses import Response

from geomi.api.guard import needs
from geomi.api.schema.schedule import WebhookRequest
from geomi.dashboard.crawl_form import FORM, Faults, fault_of, parse_payload
from geomi.dashboard.guard import DashboardRequestDep, PageRoute
from geomi.dashboard.pages import DashboardRequest
from geomi.errors import FieldRefused, GeomiError
from geomi.service import deliveries, webhooks
from geomi.service.access.keys import KeyScope
from geomi.service.webhooks import ENDS, MAX_HOOKS, HookEvent, Webhook

DELIVERIES = 3  # of each webhook

router = APIRouter(route_class=PageRoute, include_in_schema=False)
READ, WRITE = needs(KeyScope.READ), needs(KeyScope.WRITE)


@router.get("/webhooks", openapi_extra=READ)
async def list_hooks(visit: DashboardRequestDep) -> Response:
    """List webhooks, with a form for another."""
    return await _page(visit, {})


@router.post("/webhooks", openapi_extra=WRITE, operation_id="createWebhook")
async def create(visit: DashboardRequestDep) -> Response:
    """Keep a webhook and show its secret, only now."""
    payload: dict[str, object] = {
        "url": visit.form.text("url"),
        "events": visit.form.every("events"),
    }
    request, faults = parse_payload(WebhookRequest, payload)
    if not isinstance(request, WebhookRequest):
        return await _page(visit, faults)
    try:
        made = await webhooks.create(visit.desk, request.url, request.events)
    except FieldRefused as error:
        return await _page(visit, fault_of(error))
    except GeomiError as error:
        return await _page(visit, {FORM: error.message})
    return await _page(visit, {}, made)


@router.post("/webhooks/{name}/delete", openapi_extra=WRITE, operation_id="deleteWebhook")
async def delete(name: str, visit: DashboardRequestDep) -> Response:
    """Forget a webhook."""
    await webhooks.delete(visit.desk, name)
    return visit.go("/webhooks")


async def _page(visit: DashboardRequest, faults: Faults, made: Webhook | None = None) -> Response:
    rows = []
    for hook in await webhooks.page(visit.desk, after="", limit=MAX_HOOKS):
        last, _ = await deliveries.page(visit.desk, hook.id, None, before="", limit=DELIVERIES)
        rows.append((hook, last))
    return visit.page(
        "webhooks.html",
        status=HTTPStatus.UNPROCESSABLE_ENTITY if faults else HTTPStatus.OK,
        rows=rows,
        events=tuple(HookEvent),
        ends=ENDS,
        form=visit.form,
        faults=faults,
        made=made,
    )
