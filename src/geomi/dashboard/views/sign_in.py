"""Sign in and out, choose a language, serve static files, and receive browsers' policy reports."""

from __future__ import annotations

import hmac
import logging
from http import HTTPStatus

from fastapi import APIRouter
from starlette.responses import Response

from geomi.dashboard import cookies
from geomi.dashboard.form import own_path
from geomi.dashboard.guard import SIGN_IN, DashboardRequestDep, OpenRoute
from geomi.dashboard.pages import REPORTS, DashboardRequest, static_file
from geomi.dashboard.translations import LANGUAGES
from geomi.errors import KeyRefused, UnknownName
from geomi.service.access import audit, sessions

FILES = {
    "style.css": "text/css; charset=utf-8",
    "live.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
MAX_REPORT_CHARS = 500  # of what is logged of one
FOREVER = "public, max-age=31536000, immutable"

log = logging.getLogger("geomi.dashboard")
router = APIRouter(route_class=OpenRoute, include_in_schema=False)
files = APIRouter(include_in_schema=False)


@router.get(SIGN_IN)
async def ask(visit: DashboardRequestDep) -> Response:
    """Ask for a key."""
    return await _asked(visit, HTTPStatus.OK)


@router.post(SIGN_IN)
async def sign_in(visit: DashboardRequestDep) -> Response:
    """Open a session for whoever sends a key, in a form that came from here."""
    request = visit.request
    given, sent = cookies.form_of(request), visit.form.text("form_token")
    is_same = hmac.compare_digest(given.encode(), sent.encode())
    # A neighbouring host name can plant a cookie, so its content must be signed by us.
    if not is_same or not await sessions.is_form_token(visit.service, given):
        return await _asked(visit, HTTPStatus.FORBIDDEN, "sign_in.stale")
    try:
        opened = await sessions.open_session(visit.service, visit.form.text("key"))
    except KeyRefused:
        return await _asked(visit, HTTPStatus.UNAUTHORIZED, "sign_in.refused")
    response = visit.go(own_path(visit.form.text("next")))
    await audit.record(
        visit.service,
        opened.caller,
        operation="signIn",
        method=request.method,
        path=SIGN_IN,
        status=response.status_code,
    )
    cookies.keep_session(request, response, opened.token)
    return response


@router.post("/sign-out")
async def sign_out(visit: DashboardRequestDep) -> Response:
    """End the session; one that is over is none."""
    token = cookies.session_of(visit.request)
    response = visit.go(SIGN_IN)
    try:
        _, session = await sessions.resume(visit.service, token)
    except KeyRefused:
        return response
    if session.is_form(visit.form.text("form_token")):
        await sessions.close(visit.service, token)
        cookies.drop_session(visit.request, response)
    return response


@router.get("/language/{language}")
async def language(language: str, visit: DashboardRequestDep) -> Response:
    """Keep the language that somebody chose, and go back."""
    if language not in LANGUAGES:
        raise UnknownName(f"`{language[:20]}` is no language of the dashboard")
    response = visit.go(own_path(visit.asked("next")))
    cookies.keep_language(visit.request, response, language)
    return response


@files.get("/static/{name}")
async def static(name: str) -> Response:
    """Return a file of the dashboard's own."""
    if name not in FILES:
        return Response(status_code=HTTPStatus.NOT_FOUND)
    return Response(static_file(name), media_type=FILES[name], headers={"Cache-Control": FOREVER})


@router.post(REPORTS)
async def report(visit: DashboardRequestDep) -> Response:
    """Count a page that tried what its policy forbids; a browser says so by itself."""
    visit.request.app.state.violations += 1
    text = (await visit.request.body())[:MAX_REPORT_CHARS].decode("utf-8", "replace")
    log.warning("a page broke its policy: %r", text)
    return Response(status_code=HTTPStatus.NO_CONTENT)


async def _asked(visit: DashboardRequest, status: HTTPStatus, problem: str = "") -> Response:
    token = cookies.form_of(visit.request)
    if not await sessions.is_form_token(visit.service, token):
        token = await sessions.new_form_token(visit.service)
    aim = own_path(visit.form.text("next") or visit.asked("next"))
    page = visit.page("sign_in.html", status=status, token=token, problem=problem, aim=aim)
    cookies.new_form(visit.request, page, token)
    return page
