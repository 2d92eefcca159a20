"""Turn errors into problems (RFC 9457): what went wrong, where, and what to do.

400 is a request without the documented shape. 422 is one that has the shape and still cannot be
carried out. Both name the fields. An unexpected error is a 500 without detail; its traceback is
logged.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import Field
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.routing import Match

from geomi.api.schema.crawl import SETTING_NAMES
from geomi.api.schema.wire import ResponseModel
from geomi.errors import (
    ConfigError,
    FieldRefused,
    GeomiError,
    KeyRefused,
    ModelError,
    NameTaken,
    NotAllowed,
    NothingFetched,
    QuotaReached,
    StoreBusy,
    StoreError,
    StoreFull,
    UnknownName,
    WrongState,
)

MEDIA_TYPE = "application/problem+json"
MAX_FAULTS = 20  # told of one request
MAX_TEXT_CHARS = 2000
BUSY_S = 5
METHODS = ("DELETE", "GET", "PATCH", "POST", "PUT")

_NO_ROOM = "the service has no room on its disk", "ask again when its operator has made room"
_NO_STORE = "the store of the service cannot be used now", "ask its operator"

log = logging.getLogger("geomi.api")


class FieldProblem(ResponseModel):
    """What is wrong with one field."""

    field: str
    detail: str


class ProblemDetails(ResponseModel):
    """An error (RFC 9457)."""

    type: str = Field(examples=["urn:geomi:problem:unprocessable-content"])
    title: str = Field(examples=["Unprocessable Content"])
    status: int = Field(examples=[422])
    detail: str = Field(examples=["docs.example.com is a public host, and no contact is set"])
    hint: str | None = Field(default=None, examples=["start the service with GEOMI_CONTACT"])
    errors: tuple[FieldProblem, ...] = ()


# The first that fits counts, so that what is special stands first.
_STATUSES: tuple[tuple[type[GeomiError], HTTPStatus], ...] = (
    (FieldRefused, HTTPStatus.UNPROCESSABLE_ENTITY),
    (WrongState, HTTPStatus.CONFLICT),
    (NameTaken, HTTPStatus.CONFLICT),
    (ConfigError, HTTPStatus.UNPROCESSABLE_ENTITY),
    (UnknownName, HTTPStatus.NOT_FOUND),
    (KeyRefused, HTTPStatus.UNAUTHORIZED),
    (NotAllowed, HTTPStatus.FORBIDDEN),
    (QuotaReached, HTTPStatus.TOO_MANY_REQUESTS),
    (NothingFetched, HTTPStatus.UNPROCESSABLE_ENTITY),
    (StoreFull, HTTPStatus.INSUFFICIENT_STORAGE),
    (StoreBusy, HTTPStatus.SERVICE_UNAVAILABLE),
    (StoreError, HTTPStatus.SERVICE_UNAVAILABLE),
    (ModelError, HTTPStatus.SERVICE_UNAVAILABLE),
)


def install(app: FastAPI) -> None:
    """Let an app answer every error with a problem."""
    app.add_exception_handler(GeomiError, _refused)
    app.add_exception_handler(RequestValidationError, _misshapen)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _unexpected)


def problem_response(
    status: int,
    detail: str,
    *,
    hint: str = "",
    faults: Sequence[FieldProblem] = (),
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    """Make the answer for an error."""
    title = HTTPStatus(status).phrase
    content: dict[str, object] = {
        "type": f"urn:geomi:problem:{title.lower().replace(' ', '-')}",
        "title": title,
        "status": int(status),
        "detail": detail[:MAX_TEXT_CHARS],
        "errors": [{"field": one.field, "detail": one.detail} for one in faults[:MAX_FAULTS]],
    }
    if hint:
        content["hint"] = hint[:MAX_TEXT_CHARS]
    return JSONResponse(content, int(status), headers, MEDIA_TYPE)


def told_of(error: GeomiError) -> tuple[str, str]:
    """Return the words about an error that a caller may read, and the hint.

    What the system says of the service's own files is for the operator, who finds it in the log.
    """
    if isinstance(error, StoreFull):
        return _NO_ROOM
    if type(error) is StoreError:
        return _NO_STORE
    return error.message, error.hint


def status_of(error: GeomiError) -> HTTPStatus:
    """Return the HTTP status for an error of geomi."""
    fitting = (status for kind, status in _STATUSES if isinstance(error, kind))
    return next(fitting, HTTPStatus.INTERNAL_SERVER_ERROR)


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, GeomiError)
    status = status_of(error)
    if status is HTTPStatus.INTERNAL_SERVER_ERROR:
        return await _unexpected(request, error)
    message, hint = told_of(error)
    if message != error.message:
        log.warning("%s %s: %s", request.method, request.url.path, error.message)
    faults = []
    if isinstance(error, FieldRefused):
        faults = [FieldProblem(field=wire_name(error.field), detail=error.message)]
    headers = dict(getattr(request.state, "rate_headers", {}))
    if isinstance(error, QuotaReached):
        headers["Retry-After"] = str(math.ceil(error.retry_after_s))
    elif status is HTTPStatus.SERVICE_UNAVAILABLE:
        headers["Retry-After"] = str(BUSY_S)
    elif status is HTTPStatus.UNAUTHORIZED:
        headers["WWW-Authenticate"] = 'Bearer realm="geomi"'
    return problem_response(status, message, hint=hint, faults=faults, headers=headers)


async def _misshapen(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    faults = [_fault(one) for one in error.errors()[:MAX_FAULTS]]
    headers = dict(getattr(request.state, "rate_headers", {}))
    places = {str(one["loc"][0]) for one in error.errors() if one["loc"]}
    if places == {"path"}:  # an id that could never have been given
        return problem_response(HTTPStatus.NOT_FOUND, "nothing has this name", headers=headers)
    told = "; ".join(f"{one.field}: {one.detail}" for one in faults)
    return problem_response(HTTPStatus.BAD_REQUEST, told, faults=faults, headers=headers)


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    detail = {
        HTTPStatus.NOT_FOUND: "there is nothing at this path",
        HTTPStatus.METHOD_NOT_ALLOWED: f"{request.method} is not possible here",
    }.get(HTTPStatus(error.status_code), str(error.detail))
    headers = dict(error.headers or {})
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        headers["Allow"] = ", ".join(_methods(request))
    return problem_response(error.status_code, detail, headers=headers)


def _methods(request: Request) -> list[str]:
    """Return the methods of a path; the router names only those of the first route."""
    return [
        method
        for method in METHODS
        if any(
            route.matches({**request.scope, "method": method})[0] is Match.FULL
            for route in request.app.routes
        )
    ]


async def _unexpected(request: Request, error: Exception) -> Response:
    log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    return problem_response(
        HTTPStatus.INTERNAL_SERVER_ERROR,
        "something went wrong in the service; your request is not the cause",
    )


def _fault(raw: Mapping[str, object]) -> FieldProblem:
    """Read one complaint of pydantic; the first part of its place says where it was looked for."""
    places = raw["loc"]
    assert isinstance(places, Sequence)
    names = [str(place) for place in places[1:]] or [str(place) for place in places]
    message = str(raw["msg"])
    if raw["type"] == "json_invalid":
        return FieldProblem(field="body", detail=f"this is not JSON (at character {names[-1]})")
    return FieldProblem(field=".".join(names), detail=message[:1].lower() + message[1:])


def wire_name(field: str) -> str:
    """Return what a request calls a setting that the service names by its dotted key."""
    return SETTING_NAMES.get(field, field)
