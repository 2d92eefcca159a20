"""Asking the real app over ASGI: one served data directory, keys, and answers as values."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import orjson
from fastapi import FastAPI
from starlette.types import Message

from geomi.adapters.telemetry.fan_out import EventFanOut
from geomi.api.app import app_state_of, make_app
from geomi.ports.runtime import EventSink
from geomi.service.access import keys, tenants
from geomi.service.access.keys import ALL_SCOPES, KeyRole, KeyScope, NewKey
from geomi.service.service import Service, TenantService, open_service
from geomi.settings.options import Settings

LOCAL = Settings(allow_private=True, min_delay_s=0.0)
V1 = "/api/v1"
TENANT, OTHER = "acme", "umbrella"
# A crawl of a host that is this machine's own, so that nobody has to sign it.
CRAWL = {"collectionId": "handbook", "seedUrls": ["http://localhost:8080/"]}

Json = Any  # what the API answers with


@dataclass(frozen=True, slots=True)
class Answered:
    """What the app answered."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Json:
        """The body, read."""
        return orjson.loads(self.body)


@dataclass(frozen=True, slots=True)
class Client:
    """Somebody with a key, or without one."""

    app: FastAPI
    key: str = ""
    prefix: str = V1
    extra: Mapping[str, str] = field(default_factory=dict)

    def without_prefix(self) -> Client:
        """Return somebody who names whole paths."""
        return replace(self, prefix="")

    def sending(self, **headers: str) -> Client:
        """Return somebody who sends some headers with everything."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return replace(self, extra={**self.extra, **named})

    async def get(self, path: str) -> Answered:
        """Read something."""
        return await self.ask("GET", path)

    async def post(self, path: str, body: object = None) -> Answered:
        """Write something."""
        return await self.ask("POST", path, body)

    async def patch(self, path: str, body: object) -> Answered:
        """Change something."""
        return await self.ask("PATCH", path, body)

    async def delete(self, path: str) -> Answered:
        """Delete something."""
        return await self.ask("DELETE", path)

    async def ask(self, method: str, path: str, body: object = None) -> Answered:
        """Send one request through the whole app, from its first byte to its last."""
        sent = body if isinstance(body, bytes) else b"" if body is None else orjson.dumps(body)
        headers = {"host": "geomi.test", **{k.lower(): v for k, v in self.extra.items()}}
        if self.key:
            headers["authorization"] = f"Bearer {self.key}"
        if sent:
            headers.setdefault("content-type", "application/json")
        return await _exchange(self.app, method, self.prefix + path, headers, sent)


@dataclass(frozen=True, slots=True)
class Ground:
    """A served data directory with two tenants, and somebody of each."""

    service: Service
    app: FastAPI
    admin: Client
    mine: Client
    other: Client

    @property
    def desk(self) -> TenantService:
        """The desk of the first tenant."""
        return self.service.desk(TENANT)

    async def somebody(self, *scopes: KeyScope, tenant: str = TENANT) -> Client:
        """Return somebody whose key has some scopes alone."""
        minted = await keys.create(self.service, NewKey(tenant, KeyRole.TENANT, scopes))
        return Client(self.app, minted.text)


@asynccontextmanager
async def serving(
    root: Path, settings: Settings = LOCAL, *sinks: EventSink
) -> AsyncIterator[Ground]:
    """Serve a data directory; `sinks` hear what happens in it."""
    async with open_service(root, settings, lambda _: EventFanOut(*sinks)) as service:
        app = make_app()
        app_state_of(app).open(service)
        first = await tenants.first_key(service)
        assert first is not None
        texts = []
        for name in (TENANT, OTHER):
            await tenants.create(service, name)
            minted = await keys.create(service, NewKey(name, KeyRole.TENANT, ALL_SCOPES))
            texts.append(minted.text)
        yield Ground(service, app, Client(app, first.text), *[Client(app, text) for text in texts])


def everything_in(folder: Path) -> bytes:
    """Return every byte of a data directory."""
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


async def _exchange(
    app: FastAPI, method: str, target: str, headers: Mapping[str, str], body: bytes
) -> Answered:
    parts = urlsplit(target)
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": parts.path,
        "raw_path": parts.path.encode(),
        "query_string": parts.query.encode(),
        "root_path": "",
        "headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
        "state": {},
    }
    sent: list[Message] = []
    coming = [{"type": "http.request", "body": body, "more_body": False}]
    over = asyncio.Event()

    async def receive() -> Message:
        if coming:
            return coming.pop()
        await over.wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message)

    await app(scope, receive, send)
    over.set()
    start = sent[0]
    return Answered(
        start["status"],
        {name.decode(): value.decode() for name, value in start["headers"]},
        b"".join(message.get("body", b"") for message in sent[1:]),
    )
