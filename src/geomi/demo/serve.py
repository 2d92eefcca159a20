"""The sample web's server: HTTP/1.1 on one loopback port, hosts told apart by the Host header.

It speaks just enough: GET and HEAD, keep-alive, validators with 304, and the two broken answers
the table asks for. A request it cannot read is answered 400 and its connection closed; the server
goes on. Nothing but 127.0.0.1 is ever listened on.
"""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import dataclass
from email.utils import formatdate
from http import HTTPStatus
from types import TracebackType
from typing import Self

from geomi.demo.pages import HOSTS, DemoAnswer, Flaw, Site, answer, load_site

ADDRESS = "127.0.0.1"
MAX_HEAD_BYTES = 16 * 1024  # a request's line and headers
MAX_CONNECTIONS = 512  # far above any crawl's concurrency towards one address
MAX_VISITS = 100_000  # kept in the log; a demo makes a few hundred
IDLE_S = 30.0
# Bundled files have no modification time worth telling (wheels fix it), so the site has one date.
LAST_MODIFIED = "Mon, 03 Feb 2025 09:00:00 GMT"
PROMISED_BUT_MISSING_BYTES = 1000


@dataclass(frozen=True, slots=True)
class DemoVisit:
    """One answered request; times are those of the running loop's clock."""

    host: str
    path: str
    status: int
    start_s: float
    end_s: float


@dataclass(frozen=True, slots=True)
class DemoRequest:
    """A request as far as this server cares."""

    method: str
    target: str
    headers: dict[str, str]
    keep_alive: bool

    @property
    def host(self) -> str:
        return self.headers["host"].partition(":")[0].lower()

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]


class DemoSite:
    """The sample web, up between `async with` and its end.

    Args:
        port: where to listen; 0 lets the system choose, and `port` then holds its choice.
    """

    def __init__(self, *, port: int = 0) -> None:
        self.port = port
        self.log: list[DemoVisit] = []
        self._site: Site = load_site()
        self._server: asyncio.Server | None = None
        self._connections: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    @property
    def seeds(self) -> tuple[str, ...]:
        """The front page of every host."""
        return tuple(f"http://{host}/" for host in HOSTS)

    @property
    def overrides(self) -> tuple[str, ...]:
        """`HOST:80:ADDRESS:PORT` for every host, so that its URLs need no port."""
        return tuple(f"{host}:80:{ADDRESS}:{self.port}" for host in HOSTS)

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(
            self._connected, ADDRESS, self.port, limit=MAX_HEAD_BYTES
        )
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._server is not None
        self._server.close()
        for writer in self._connections.values():
            writer.transport.abort()  # the reader sees its end and the task returns by itself
        if self._connections:
            await asyncio.wait(self._connections)
        await self._server.wait_closed()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        if len(self._connections) >= MAX_CONNECTIONS:
            writer.transport.abort()
            return
        self._connections[task] = writer
        try:
            while await self._exchange(reader, writer):
                pass
        except (OSError, TimeoutError, asyncio.IncompleteReadError):
            pass  # the client left or fell asleep
        finally:
            del self._connections[task]
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; return whether another may follow."""
        asked = await _read(reader)
        start_s = asyncio.get_running_loop().time()
        if asked is None:
            writer.write(_encode(DemoAnswer(400), keep_alive=False))
            await writer.drain()
            return False
        given = self._decide(asked)
        keep_alive = asked.keep_alive and given.flaw is Flaw.NONE
        writer.write(_encode(given, keep_alive=keep_alive, head_only=asked.method == "HEAD"))
        await writer.drain()
        self._note(asked, given.status, start_s)
        return keep_alive

    def _decide(self, asked: DemoRequest) -> DemoAnswer:
        if asked.method not in ("GET", "HEAD"):
            return DemoAnswer(405)
        given = answer(self._site, asked.host, asked.path)
        if given.is_file and _is_unchanged(asked, given):
            return DemoAnswer(304, given.content_type, given.body, is_file=True)
        return given

    def _note(self, asked: DemoRequest, status: int, start_s: float) -> None:
        if len(self.log) < MAX_VISITS:
            end_s = asyncio.get_running_loop().time()
            self.log.append(DemoVisit(asked.host, asked.target, status, start_s, end_s))


async def _read(reader: asyncio.StreamReader) -> DemoRequest | None:
    """Read one request head; None where it cannot be understood."""
    try:
        async with asyncio.timeout(IDLE_S):
            head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.LimitOverrunError:
        return None
    return _parse(head.decode("latin-1"))


def _parse(head: str) -> DemoRequest | None:
    first, *lines = head.removesuffix("\r\n\r\n").split("\r\n")
    words = first.split(" ")
    if len(words) != len(("method", "target", "version")):
        return None
    method, target, version = words
    pairs = [line.partition(":") for line in lines]
    headers = {name.lower(): value.strip() for name, _, value in pairs}
    is_readable = version in ("HTTP/1.1", "HTTP/1.0") and target.startswith("/")
    if not is_readable or not all(colon for _, colon, _ in pairs) or not headers.get("host"):
        return None
    # A body is never read, so nothing may follow it on the same connection.
    has_body = headers.get("content-length", "0") != "0" or "transfer-encoding" in headers
    wants_more = version == "HTTP/1.1" and headers.get("connection", "").lower() != "close"
    return DemoRequest(method, target, headers, keep_alive=wants_more and not has_body)


def _is_unchanged(asked: DemoRequest, given: DemoAnswer) -> bool:
    # RFC 9110 §13.1.3: If-Modified-Since is ignored where If-None-Match is present.
    if "if-none-match" in asked.headers:
        known = asked.headers["if-none-match"].split(",")
        return _etag(given.body) in [tag.strip().removeprefix("W/") for tag in known]
    return asked.headers.get("if-modified-since") == LAST_MODIFIED


def _encode(given: DemoAnswer, *, keep_alive: bool, head_only: bool = False) -> bytes:
    head = "".join(f"{line}\r\n" for line in _head(given, keep_alive=keep_alive))
    body = b"" if head_only or given.status == HTTPStatus.NOT_MODIFIED else given.body
    if body and given.flaw is Flaw.TANGLED:
        body = b"%x\r\n%s\r\nknot\r\n" % (len(body), body)
    return head.encode("latin-1") + b"\r\n" + body


def _head(given: DemoAnswer, *, keep_alive: bool) -> list[str]:
    lines = [f"HTTP/1.1 {given.status} {HTTPStatus(given.status).phrase}"]
    lines += [f"Date: {formatdate(usegmt=True)}", "Server: geomi-demo"]
    lines += [f"Connection: {'keep-alive' if keep_alive else 'close'}"]
    if given.content_type:
        lines.append(f"Content-Type: {given.content_type}")
    if given.is_file:
        lines += [f"ETag: {_etag(given.body)}", f"Last-Modified: {LAST_MODIFIED}"]
    if given.location:
        lines.append(f"Location: {given.location}")
    if given.status == HTTPStatus.METHOD_NOT_ALLOWED:
        lines.append("Allow: GET, HEAD")
    if given.flaw is Flaw.TANGLED:
        lines.append("Transfer-Encoding: chunked")
    elif given.status != HTTPStatus.NOT_MODIFIED:
        missing = PROMISED_BUT_MISSING_BYTES if given.flaw is Flaw.TORN else 0
        lines.append(f"Content-Length: {len(given.body) + missing}")
    return lines


def _etag(body: bytes) -> str:
    return f'"{hashlib.sha256(body).hexdigest()[:16]}"'
