"""Limit the body of every request, and add security headers to every response.

A body is read up to a size and within a time, and then handed on. No code behind this has to
count.
"""

from __future__ import annotations

import asyncio
from http import HTTPStatus

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from geomi.api.problems import problem_response

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
        await self._app(scope, _replayed(body, receive), signed)


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


def _replayed(messages: list[Message], receive: Receive) -> Receive:
    waiting = iter(messages)

    async def again() -> Message:
        return next(waiting, None) or await receive()

    return again
