"""One request through the egress gate, inside every limit of its `Request`.

Rules: a redirect is an answer and never followed here; whatever a server or a network does is a
value (`Fetched.failure`), never an exception; an error status is an answer too, so what goes wrong
in its body costs the body and not the status. A kept connection that the server closed before a
single byte of the answer is told as stale: whether the request arrived is not known, so when it is
asked again is a matter of politeness and not of this client.
"""

from __future__ import annotations

import asyncio
from functools import partial

from geomi.adapters.http.connection import Connection
from geomi.adapters.http.egress import Egress
from geomi.adapters.http.failure import FetchFailed
from geomi.adapters.http.heap import give_back_large_blocks
from geomi.adapters.http.message import write_request
from geomi.adapters.http.pool import Pool
from geomi.adapters.http.response import Reader
from geomi.adapters.http.room import Room, Share
from geomi.model.page import Fetched, Request
from geomi.model.verdict import Outcome
from geomi.ports.clock import Clock
from geomi.url.parse import Url, parse

# asyncio's own choice for one read.
BUFFER_BYTES = 256 * 1024


class HttpClient:
    """The `Fetcher` port over HTTP/1.1."""

    def __init__(self, egress: Egress, clock: Clock) -> None:
        self._egress = egress
        self._clock = clock
        self._pool = Pool()
        self._buffer = bytearray(BUFFER_BYTES)
        self._room = Room()
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
            ip=visit.ip,
            started_s=started_s,
            ended_s=self._clock.now_s(),
            failure=failure.outcome if failure is not None and not is_error_answer else None,
            detail=failure.detail if failure is not None else "",
            is_stale=visit.is_reused and visit.was_never_answered,
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
        proxy = self._egress.proxy_of(url.host, url.port, tls=url.scheme == "https")
        message = write_request(url, visit.request.headers, proxy, visit.request.body)
        place = (url.scheme, url.host, url.port)
        connection = self._pool.take(place)
        visit.is_reused = connection is not None
        if connection is None:
            connection = await self._open(visit, url)
        if asyncio.get_running_loop().time() >= visit.deadline_s:
            connection.close()
            raise FetchFailed(Outcome.TIMEOUT, "this process was stopped before it could ask")
        await visit.exchange(message, connection)
        if visit.reader.is_reusable:
            self._pool.park(place, connection)

    async def _open(self, visit: _Visit, url: Url) -> Connection:
        try:
            async with asyncio.timeout_at(visit.deadline_s):
                connection, ip = await self._egress.connect(
                    url.host,
                    url.port,
                    partial(Connection, self._buffer, self._room),
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
        self.reader = Reader(request)
        self.deadline_s = asyncio.get_running_loop().time() + request.total_timeout_s
        self.ip = ""
        self.is_reused = False
        self.share: Share | None = None

    async def exchange(self, message: bytes, connection: Connection) -> None:
        """Send the request over a connection and read what comes."""
        if self.reader.is_over:
            self.reader = Reader(self.request)
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
