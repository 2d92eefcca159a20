"""The checks that every page passes, once and in this order.

The order is session, rate, scope, form token, audit. An error is a page too, and somebody who is
not signed in is sent to the sign-in page.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from http import HTTPStatus
from typing import Annotated
from urllib.parse import quote

from fastapi import Depends, Request
from fastapi.routing import APIRoute
from starlette.responses import RedirectResponse, Response

from geomi.api.guard import ROLE, SCOPE, Handler, app_state_of_request, service_of
from geomi.api.problems import status_of, told_of
from geomi.dashboard import cookies
from geomi.dashboard.form import NO_FORM, read_form
from geomi.dashboard.pages import DashboardRequest
from geomi.dashboard.translations import choose_language, translations_of
from geomi.errors import GeomiError, KeyRefused, NotAllowed, QuotaReached
from geomi.service.access import audit, sessions
from geomi.service.access.keys import KeyRole, KeyScope
from geomi.service.service import Service

SIGN_IN = "/sign-in"

log = logging.getLogger("geomi.dashboard")


def dashboard_request_of(request: Request) -> DashboardRequest:
    """Return the visit that a request is; the guard has made it."""
    visit = request.state.visit
    assert isinstance(visit, DashboardRequest)
    return visit


DashboardRequestDep = Annotated[DashboardRequest, Depends(dashboard_request_of)]


class OpenRoute(APIRoute):
    """A page that nobody has to sign in for."""

    def get_route_handler(self) -> Handler:
        """Return the page's handler with its errors as pages."""
        inner = super().get_route_handler()

        async def handle(request: Request) -> Response:
            try:
                return await self._answer(request, inner)
            except GeomiError as error:
                return _refused(request, error)
            except Exception as error:  # the last resort of a surface: it is logged, and told
                log.error("%s %s failed", request.method, request.url.path, exc_info=error)
                return _told(request, HTTPStatus.INTERNAL_SERVER_ERROR)

        return handle

    async def _answer(self, request: Request, inner: Handler) -> Response:
        client = request.client.host if request.client else ""
        request.state.visit = await _visit(request)
        if request.method == "POST":
            _refuse_foreign(request)
            _take_turn(request, f"visitor {client}")
        return await inner(request)


class PageRoute(OpenRoute):
    """A page behind the guard."""

    async def _answer(self, request: Request, inner: Handler) -> Response:
        service = service_of(request)
        caller, session = await sessions.resume(service, cookies.session_of(request))
        visit = replace(
            await _visit(request), caller=caller, session=session, form_token=session.form_token
        )
        request.state.visit = visit
        _take_turn(request, caller.tenant)
        self._refuse_beyond(visit)
        if request.method != "POST":
            return await inner(request)
        _refuse_foreign(request)
        if not session.is_form(visit.form.text("form_token")):
            raise NotAllowed(
                "this form is not one of this session's", hint="open the page again, and send it"
            )
        response = await inner(request)
        await self._note(service, visit, response)
        return response

    def _refuse_beyond(self, visit: DashboardRequest) -> None:
        told = self.openapi_extra or {}
        scope, role = KeyScope(told[SCOPE]), KeyRole(told[ROLE])
        if role is KeyRole.ADMIN and not visit.is_admin:
            raise NotAllowed("this needs a key of an administrator")
        if not visit.may(scope):
            raise NotAllowed(f"this key has no scope `{scope}`", hint="use a key that has it")

    async def _note(self, service: Service, visit: DashboardRequest, response: Response) -> None:
        if KeyScope((self.openapi_extra or {})[SCOPE]) is KeyScope.READ:
            return
        await audit.record(
            service,
            visit.who,
            operation=self.operation_id or self.name,
            method=visit.request.method,
            path=visit.request.url.path,
            status=response.status_code,
        )


async def _visit(request: Request) -> DashboardRequest:
    language = choose_language(
        request.cookies.get(cookies.LANGUAGE), request.headers.get("accept-language", "")
    )
    form = await read_form(request) if request.method == "POST" else NO_FORM
    return DashboardRequest(request, service_of(request), translations_of(language), form=form)


def _refuse_foreign(request: Request) -> None:
    """Refuse a form that a browser says another site has sent, be it with a token of ours."""
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise NotAllowed("another site has sent this form", hint="open the page here, and send it")


def _take_turn(request: Request, name: str) -> None:
    buckets = app_state_of_request(request).buckets
    assert buckets is not None, "opened with the service"
    allowance = buckets.take(name, now_s=service_of(request).home.world.clock.now_s())
    if allowance is not None and not allowance.is_granted:
        raise QuotaReached(
            f"{allowance.limit} requests a minute are the limit", retry_after_s=allowance.wait_s
        )


def _refused(request: Request, error: GeomiError) -> Response:
    if isinstance(error, KeyRefused):
        return _lead_to_sign_in(request)
    status = status_of(error)
    if status is HTTPStatus.INTERNAL_SERVER_ERROR:
        log.error("%s %s failed", request.method, request.url.path, exc_info=error)
        return _told(request, status)
    return _told(request, status, *told_of(error))


def _lead_to_sign_in(request: Request) -> Response:
    path = request.url.path
    wished = path + (f"?{request.url.query}" if request.url.query else "")
    aim = f"?next={quote(wished, safe='/')}" if request.method == "GET" and path != "/" else ""
    return RedirectResponse(SIGN_IN + aim, HTTPStatus.SEE_OTHER, {"Cache-Control": "no-store"})


def _told(request: Request, status: HTTPStatus, message: str = "", hint: str = "") -> Response:
    visit = getattr(request.state, "visit", None)
    if not isinstance(visit, DashboardRequest):  # nothing was open yet
        return Response(message or status.phrase, status, media_type="text/plain")
    return visit.page("error.html", status=status, code=int(status), message=message, hint=hint)
