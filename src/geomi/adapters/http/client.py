"""One request through the egress gate, inside every limit of its `Request`.

Rules kept:
- A redirect is an answer and never followed here.
- Whatever a server or a network does is a value (`Fetched.failure`), never an exception. An error
  status is an answer too: what goes wrong in its body costs the body and not the status.
- When the server closed a kept connection before the first byte of the answer, the failure is
  marked stale. Nobody knows whether the request arrived, so the caller's politeness decides when to
  ask again.
- The request is GET, or POST with a body; `Host` comes first; no cookie ever leaves (HTTP-12).
  Headers that steer the connection are ours alone. A line break inside a header is refused: it
  would begin another one.
- What was sent is told for the archive without the values of headers that may be secrets: only
  those that geomi itself fills are shown.
- Memory of large bodies goes back to the system at once. glibc raises its threshold for large
  blocks when the first one is freed, and then keeps such blocks in its heap. A crawl of hostile
  pages of 4 MiB grew by 93 MiB that way; with a fixed threshold it grew by 60 MiB.
- A host is asked one request at a time, so one connection per scheme, host and port waits for the
  next. Their number is bounded; the one that waited longest goes first. None waits longer than
  servers usually keep theirs, and none outlives the addresses it was checked with.
"""

from __future__ import annotations

import asyncio
import ctypes
import sys
from collections import OrderedDict
from functools import partial

from geomi.adapters.http.connection import Connection
from geomi.adapters.http.egress import Egress
from geomi.adapters.http.failure import FetchFailed
from geomi.adapters.http.names import KEPT_S
from geomi.adapters.http.response import ResponseReader
from geomi.adapters.http.room import BodyMemory, Share
from geomi.adapters.http.rules import Proxy
from geomi.engine.in_hand import NoMark
from geomi.errors import ConfigError
from geomi.model.page import Fetched, Headers, Request
from geomi.model.verdict import Outcome
from geomi.ports.runtime import Clock, WorkMark
from geomi.url.parse import DEFAULT_PORTS, Url, parse

# asyncio's own choice for one read.
BUFFER_BYTES = 256 * 1024
_OURS = frozenset(
    {
        "connection", "content-length", "cookie", "expect", "host", "keep-alive", "te", "trailer",
        "proxy-authorization", "proxy-connection", "transfer-encoding", "upgrade",
    }
)  # fmt: skip
LARGE_BLOCK_BYTES = 1024 * 1024
_SHOWN = frozenset(
    {
        b"accept", b"accept-encoding", b"accept-language", b"connection", b"content-length",
        b"host", b"if-modified-since", b"if-none-match", b"user-agent",
    }
)  # fmt: skip
HIDDEN = b"[removed]"
_M_MMAP_THRESHOLD = -3  # of <malloc.h>
MAX_IDLE = 256
# Apache closes after 5 s, nginx after 75 s; politeness delays of 1-10 s profit, longer ones rarely.
IDLE_S = 15.0

Place = tuple[str, str, int]


class HttpClient:
    """The `Fetcher` port over HTTP/1.1."""

    def __init__(self, egress: Egress, clock: Clock, mark: WorkMark | None = None) -> None:
        self._egress = egress
        self._clock = clock
        self._pool = ConnectionPool()
        self._buffer = bytearray(BUFFER_BYTES)
        self._room = BodyMemory()
        self._mark = mark or NoMark()
        give_back_large_blocks()

    async def fetch(self, request: Request) -> Fetched:
        """Send the request and read the answer."""
        started_s = self._clock.now_s()
        visit = _Visit(request)
        body, failure = b"", None
        try:
            await self._visit(visit)
            body = visit.reader.body()
        except FetchFailed as failed:
            failure = failed.failure
        is_error_answer = visit.reader.status >= 300
        fetched = Fetched(
            url=request.url,
            status=visit.reader.status,
            headers=tuple(visit.reader.headers) if visit.reader.status else (),
            body=body,
            wire_bytes=visit.reader.wire_bytes,
            head=visit.reader.head,
            sent=visit.sent,
            ip=visit.ip,
            started_s=started_s,
            ended_s=self._clock.now_s(),
            failure=failure.outcome if failure is not None and not is_error_answer else None,
            detail=failure.detail if failure is not None else "",
            is_stale=visit.is_reused and visit.was_never_answered,
            signed_in=request.signed_in,
        )
        if visit.share is not None:
            visit.share.keep_for(fetched)
        return fetched

    async def aclose(self) -> None:
        """Close every connection, and the gate."""
        self._pool.close()
        self._egress.close()
        await asyncio.sleep(0)  # the loop's turn in which the sockets are really closed

    async def _visit(self, visit: _Visit) -> None:
        url = parse(visit.request.url)
        if url is None:
            raise FetchFailed(Outcome.PROTOCOL_ERROR, "the URL is not an http or https URL")
        tls = url.scheme == "https"
        forwards = self._egress.forwards(url.host, url.port, tls=tls)
        proxy = self._egress.proxy_of(url.host, url.port, tls=tls) if forwards else None
        message = write_request(
            url,
            visit.request.headers,
            proxy,
            visit.request.body,
            is_signed_in=visit.request.signed_in,
        )
        visit.sent = shown_request(message)
        place = (url.scheme, url.host, url.port)
        connection = self._pool.take(place)
        visit.is_reused = connection is not None
        if connection is None:
            connection = await self._open(visit, url)
        if asyncio.get_running_loop().time() >= visit.deadline_s:
            connection.close()
            raise FetchFailed(Outcome.TIMEOUT, "this process stopped before the request")
        await visit.exchange(message, connection)
        if visit.reader.is_reusable:
            self._pool.park(place, connection)

    async def _open(self, visit: _Visit, url: Url) -> Connection:
        try:
            async with asyncio.timeout_at(visit.deadline_s):
                connection, ip = await self._egress.connect(
                    url.host,
                    url.port,
                    partial(Connection, self._buffer, self._room, self._mark),
                    tls=url.scheme == "https",
                    timeout_s=visit.request.connect_timeout_s,
                )
        except TimeoutError as error:
            raise FetchFailed(
                Outcome.TIMEOUT, f"no connection within {visit.request.total_timeout_s:g} s"
            ) from error
        connection.ip = ip
        return connection


class _Visit:
    """What one fetch gathers on its way."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.reader = ResponseReader(request)
        self.deadline_s = asyncio.get_running_loop().time() + request.total_timeout_s
        self.sent = b""
        self.ip = ""
        self.is_reused = False
        self.share: Share | None = None

    async def exchange(self, message: bytes, connection: Connection) -> None:
        """Send the request over a connection and read what comes."""
        if self.reader.is_over:
            self.reader = ResponseReader(self.request)
        self.ip = connection.ip
        self.share = await connection.exchange(
            message,
            self.reader,
            deadline_s=self.deadline_s,
            silence_s=self.request.read_timeout_s,
        )

    @property
    def was_never_answered(self) -> bool:
        """Whether the server closed the connection before a single byte of the answer."""
        failure = self.reader.failure
        return failure is not None and failure.outcome is Outcome.CONNECT_ERROR


def write_request(
    url: Url,
    headers: Headers,
    proxy: Proxy | None,
    body: bytes = b"",
    *,
    is_signed_in: bool = False,
) -> bytes:
    """Return the request for a URL.

    Args:
        proxy: one that is asked for the URL in full (RFC 9112 §3.2.2).
        is_signed_in: a cookie among the headers is the fixed one of the site's owner.
    """
    ours = _OURS - {"cookie"} if is_signed_in else _OURS
    is_default_port = url.port == DEFAULT_PORTS[url.scheme]
    authority = url.host if is_default_port else url.authority
    target = f"http://{authority}{url.target}" if proxy is not None else url.target
    lines = [
        f"{'POST' if body else 'GET'} {target} HTTP/1.1",
        f"Host: {authority}",
        *[f"{name}: {value}" for name, value in headers if name.lower() not in ours],
        "Connection: keep-alive",  # C-70: HTTP/1.1 is all we speak
    ]
    if body:
        lines.append(f"Content-Length: {len(body)}")
    if proxy is not None and proxy.authorization:
        lines.append(f"Proxy-Authorization: {proxy.authorization}")
    message = "\r\n".join([*lines, "", ""])
    if message.count("\n") != len(lines) + 1 or message.count("\r") != len(lines) + 1:
        raise ConfigError(
            f"a request header for `{url.host}` has a line break",
            hint="check `http.headers` and `http.user_agent`",
        )
    return message.encode() + body


def shown_request(message: bytes) -> bytes:
    """Return a request without its body, and without any value that may be a secret."""
    head = message.partition(b"\r\n\r\n")[0]
    lines = head.split(b"\r\n")
    for number, line in enumerate(lines[1:], start=1):
        name = line.partition(b":")[0]
        if name.lower() not in _SHOWN:
            lines[number] = name + b": " + HIDDEN
    return b"\r\n".join((*lines, b"", b""))


def give_back_large_blocks() -> None:
    """Keep the size of a large block where it is; other systems than glibc's need nothing."""
    if sys.platform == "linux":
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
        if mallopt is not None:
            mallopt(_M_MMAP_THRESHOLD, LARGE_BLOCK_BYTES)


class ConnectionPool:
    """The idle connections of one client."""

    def __init__(self) -> None:
        self._idle: OrderedDict[Place, Connection] = OrderedDict()  # the longest idle first
        self._sweep: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._idle)

    def take(self, place: Place) -> Connection | None:
        """Return an open connection to that place, if one is idle."""
        connection = self._idle.pop(place, None)
        if connection is None or not connection.is_open:
            return None
        now_s = asyncio.get_running_loop().time()
        if now_s - connection.parked_s > IDLE_S or now_s - connection.opened_s > KEPT_S:
            connection.close()
            return None
        return connection

    def park(self, place: Place, connection: Connection) -> None:
        """Keep a connection whose last answer was read to its end."""
        if not connection.is_open:
            return
        loop = asyncio.get_running_loop()
        connection.parked_s = loop.time()
        before = self._idle.pop(place, None)
        if before is not None:
            before.close()
        self._idle[place] = connection
        if len(self._idle) > MAX_IDLE:
            self._idle.popitem(last=False)[1].close()
        if self._sweep is None:
            self._sweep = loop.call_later(IDLE_S, self._close_stale)

    def close(self) -> None:
        """Close every idle connection."""
        if self._sweep is not None:
            self._sweep.cancel()
            self._sweep = None
        while self._idle:
            self._idle.popitem()[1].close()

    def _close_stale(self) -> None:
        loop = asyncio.get_running_loop()
        self._sweep = None
        while self._idle:
            place, connection = next(iter(self._idle.items()))
            left_s = connection.parked_s + IDLE_S - loop.time()
            if connection.is_open and left_s > 0:
                self._sweep = loop.call_later(left_s, self._close_stale)
                return
            del self._idle[place]
            connection.close()
