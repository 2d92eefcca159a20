"""The checks that every API request passes, once and in this order.

A body is read up to a size and within a time, so that no code behind this has to count; every
response gets security headers. Then come key, rate, scope, idempotency, audit, ETag. An operation
says what it needs with `needs`, which also puts it into the OpenAPI document. All keys of a tenant
share one token bucket, so more keys give no more requests. With several processes a tenant has as
many buckets.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import Depends, Request
from fastapi.routing import APIRoute
from starlette.datastructures import MutableHeaders
from starlette.responses import Response, StreamingResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from geomi.adapters.telemetry.metrics import Metrics
from geomi.api.problems import problem_response
from geomi.errors import FieldRefused, KeyRefused, NotAllowed, QuotaReached, StoreBusy
from geomi.service.access import audit, idempotency
from geomi.service.access.idempotency import StoredAnswer
from geomi.service.access.keys import Caller, KeyRole, KeyScope, authenticate
from geomi.service.service import Service, TenantService

MAX_IDEMPOTENCY_CHARS = 255
SCOPE, ROLE, SECRET = "x-required-scope", "x-required-role", "x-shows-secret-once"
READS = frozenset({"GET", "HEAD"})
PER_S = 60.0
MAX_BUCKETS = 10_000  # those that were not used for longest are forgotten, and so are full again

_IDEMPOTENCY_KEY = re.compile(rf"[!-~]{{1,{MAX_IDEMPOTENCY_CHARS}}}")

Handler = Callable[[Request], Coroutine[Any, Any, Response]]  # as FastAPI has it
MAX_BODY_BYTES = 1024 * 1024
LONGEST_BODY_S = 30.0

# Whoever serves pages of its own says otherwise for them.
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cache-Control": "private, no-cache",
}


def needs(
    scope: KeyScope, *, role: KeyRole = KeyRole.TENANT, shows_secret: bool = False
) -> dict[str, object]:
    """Say in the document what a key needs for an operation; the guard reads it there."""
    extra: dict[str, object] = {SCOPE: scope.value, ROLE: role.value}
    return extra | ({SECRET: True} if shows_secret else {})


@dataclass(slots=True)
class AppState:
    """What an app serves: the service, once it is open, and how often each key may ask.

    Args:
        processes_trouble: says which processes beside this one do not answer; empty if all do.
    """

    service: Service | None = None
    buckets: RateLimiter | None = None
    metrics: Metrics = field(default_factory=Metrics)
    processes_trouble: Callable[[], str] = str

    def open(self, service: Service, metrics: Metrics | None = None) -> None:
        """Begin to serve; `metrics` receives the events of this process."""
        self.service = service
        self.metrics = metrics or self.metrics
        self.buckets = RateLimiter(service.settings.api_rate_per_minute)

    def close(self) -> None:
        """Serve no longer."""
        self.service = self.buckets = None


def service_of(request: Request) -> Service:
    """Return the service behind an app."""
    service = app_state_of_request(request).service
    if service is None:
        raise StoreBusy("the service has not started yet")
    return service


def app_state_of_request(request: Request) -> AppState:
    """Return what an app serves."""
    state = request.app.state.geomi
    assert isinstance(state, AppState)
    return state


def caller_of(request: Request) -> Caller:
    """Return who asks; the guard has found out."""
    caller = request.state.caller
    assert isinstance(caller, Caller)
    return caller


def tenant_service_of(request: Request) -> TenantService:
    """Return the tenant's service for the caller."""
    return caller_of(request).desk


ServiceDep = Annotated[Service, Depends(service_of)]
CallerDep = Annotated[Caller, Depends(caller_of)]
TenantServiceDep = Annotated[TenantService, Depends(tenant_service_of)]


class GuardedRoute(APIRoute):
    """An operation behind the guard."""

    def get_route_handler(self) -> Handler:
        """Return the operation's handler with the guard before it."""
        inner = super().get_route_handler()

        async def handle(request: Request) -> Response:
            service = service_of(request)
            caller = await authenticate(service, _key(request))
            request.state.caller = caller
            self._take_turn(request, service, caller)
            self._refuse_beyond(caller)
            if request.method in READS:
                answer = _tagged(request, await inner(request))
            else:
                answer = await self._write(request, service, caller, inner)
            answer.headers.update(request.state.rate_headers)
            return answer

        return handle

    def _take_turn(self, request: Request, service: Service, caller: Caller) -> None:
        request.state.rate_headers = {}
        buckets = app_state_of_request(request).buckets
        assert buckets is not None, "opened with the service"
        allowance = buckets.take(caller.tenant, now_s=service.home.world.clock.now_s())
        if allowance is None:
            return
        request.state.rate_headers = allowance.headers
        if not allowance.is_granted:
            raise QuotaReached(
                f"this key may send {allowance.limit} requests a minute",
                hint="wait; RateLimit-Reset says when the full allowance is back",
                retry_after_s=allowance.wait_s,
            )

    def _refuse_beyond(self, caller: Caller) -> None:
        told = self.openapi_extra or {}
        scope, role = KeyScope(told[SCOPE]), KeyRole(told[ROLE])
        if role is KeyRole.ADMIN and caller.key.role is not KeyRole.ADMIN:
            raise NotAllowed("this needs an administrator's key")
        if not caller.may(scope):
            raise NotAllowed(f"this key lacks the scope `{scope}`", hint="use a key that has it")

    async def _write(
        self, request: Request, service: Service, caller: Caller, inner: Handler
    ) -> Response:
        key = _idempotency_key(request)
        if key is None:
            return await self._audited(request, service, caller, inner)
        target = f"{request.method} {request.url.path}"
        ticket = await idempotency.claim_request(
            caller.desk, key, target=target, body=await request.body()
        )
        if not ticket.is_first:
            return _replayed(ticket.answer)
        answer: StoredAnswer | None = None
        try:
            response = await self._audited(request, service, caller, inner)
            answer = self._kept(response)
        finally:
            await idempotency.store_answer(caller.desk, ticket, answer)
        return response

    async def _audited(
        self, request: Request, service: Service, caller: Caller, inner: Handler
    ) -> Response:
        response = await inner(request)
        if (self.openapi_extra or {}).get(SCOPE) != KeyScope.READ:
            await audit.record(
                service,
                caller,
                operation=self.operation_id or self.name,
                method=request.method,
                path=request.url.path,
                status=response.status_code,
            )
        return response

    def _kept(self, response: Response) -> StoredAnswer:
        if (self.openapi_extra or {}).get(SECRET):
            return StoredAnswer("", 0.0, response.status_code, is_secret=True)
        return StoredAnswer(
            "",
            0.0,
            response.status_code,
            bytes(response.body).decode(),
            response.headers.get("location", ""),
        )


def _key(request: Request) -> str:
    """Read the key of a request."""
    scheme, _, text = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer":
        raise KeyRefused("the request has no key", hint="send `Authorization: Bearer geomi_…`")
    return text.strip()


def _idempotency_key(request: Request) -> str | None:
    key = request.headers.get("idempotency-key")
    if key is None or request.method != "POST":
        return None
    if not _IDEMPOTENCY_KEY.fullmatch(key):
        raise FieldRefused(
            f"the key must have 1 to {MAX_IDEMPOTENCY_CHARS} ASCII characters without spaces",
            field="Idempotency-Key",
        )
    return key


def _replayed(answer: StoredAnswer) -> Response:
    headers = {"Idempotent-Replayed": "true"}
    if answer.location:
        headers["Location"] = answer.location
    media_type = "application/json" if answer.body else None
    return Response(answer.body, answer.status, headers, media_type)


def _tagged(request: Request, response: Response) -> Response:
    """Add an ETag to an answer, and send no body if the client has this version."""
    if isinstance(response, StreamingResponse) or response.status_code != HTTPStatus.OK:
        return response
    tag = f'"{hashlib.sha256(bytes(response.body)).hexdigest()[:32]}"'
    known = [
        one.strip().removeprefix("W/")
        for one in request.headers.get("if-none-match", "").split(",")
    ]
    if tag in known or known == ["*"]:
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers={"ETag": tag})
    response.headers["ETag"] = tag
    return response


@dataclass(frozen=True, slots=True)
class Allowance:
    """Whether a request may pass, and what is left of the bucket.

    Args:
        wait_s: until the next may pass, where this one may not.
        reset_s: until the bucket is full again.
    """

    is_granted: bool
    limit: int
    left: int
    wait_s: float
    reset_s: float

    @property
    def headers(self) -> dict[str, str]:
        """Return the headers about the rate for every answer."""
        return {
            "RateLimit-Limit": str(self.limit),
            "RateLimit-Remaining": str(self.left),
            "RateLimit-Reset": str(int(self.reset_s + 0.999)),
        }


class RateLimiter:
    """The buckets of all tenants.

    Args:
        per_minute: how fast each fills, and how much it holds; 0 is no limit.
    """

    def __init__(self, per_minute: int) -> None:
        self._per_minute = per_minute
        self._rate = per_minute / PER_S
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, tenant: str, *, now_s: float) -> Allowance | None:
        """Take one request out of a tenant's bucket; None where there is no limit."""
        if not self._per_minute:
            return None
        size = float(self._per_minute)
        level, at_s = self._levels.pop(tenant, (size, now_s))
        level = min(size, level + max(0.0, now_s - at_s) * self._rate)
        is_granted = level >= 1.0
        if is_granted:
            level -= 1.0
        self._levels[tenant] = level, now_s
        while len(self._levels) > MAX_BUCKETS:
            self._levels.popitem(last=False)
        wait_s = 0.0 if is_granted else (1.0 - level) / self._rate
        reset_s = (size - level) / self._rate
        return Allowance(is_granted, self._per_minute, int(level), wait_s, reset_s)


class LimitsAndHeaders:
    """Stands before an app: limits what comes in, and signs what goes out."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def signed(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            async with asyncio.timeout(LONGEST_BODY_S):
                body = await _body(scope, receive)
        except TimeoutError:
            refusal = problem_response(
                HTTPStatus.REQUEST_TIMEOUT, "the body did not arrive in time"
            )
            await refusal(scope, receive, signed)
            return
        if body is None:
            told = f"the body has more than {MAX_BODY_BYTES:,} bytes"
            await problem_response(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, told)(
                scope, receive, signed
            )
            return
        await self._app(scope, _read_again(body, receive), signed)


async def _body(scope: Scope, receive: Receive) -> list[Message] | None:
    """Read a whole body; None where it is too large."""
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit() and int(value) > MAX_BODY_BYTES:
            return None
    messages: list[Message] = []
    size = 0
    while True:
        message = await receive()
        messages.append(message)
        size += len(message.get("body", b""))
        if size > MAX_BODY_BYTES:
            return None
        if message["type"] != "http.request" or not message.get("more_body", False):
            return messages


def _read_again(messages: list[Message], receive: Receive) -> Receive:
    waiting = iter(messages)

    async def again() -> Message:
        return next(waiting, None) or await receive()

    return again
