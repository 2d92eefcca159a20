"""A real HTTP server on loopback, for tests: pages, scripted misbehaviour, and a log of who asked.

It runs in a thread with its own event loop, so the code under test keeps its own; it listens on a
port the system chooses. `Reply` is a well-formed answer, `Raw` sends exactly the bytes it is given,
with pauses between them, and then closes, resets or stays silent.

    with Site({"/": Reply(body=b"<p>hello"), "/slow": Raw((b"HTTP/1.1 ", 0.2), End.RESET)}) as site:
        fetch(site.url("/"))
        assert [seen.path for seen in site.log] == ["/"]
"""

from __future__ import annotations

import asyncio
import socket
import ssl
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from http import HTTPStatus
from types import TracebackType

MAX_HEAD_BYTES = 64 * 1024
START_TIMEOUT_S = 10.0
# A server that closes while asyncio is still accepting a connection leaks that connection's socket;
# from the queue to the protocol it takes three turns of the loop.
TURNS_OF_ACCEPT = 4
TCP_ESTABLISHED = 1  # the first byte of the system's answer to TCP_INFO


class End(StrEnum):
    """What a `Raw` answer does after its last byte."""

    CLOSE = "close"
    RESET = "reset"
    KEEP = "keep"  # the connection stays open for the next request
    SILENCE = "silence"  # it stays open, and nothing more is read or said


@dataclass(frozen=True, slots=True)
class Reply:
    """A well-formed answer with its length, on a connection that stays open."""

    body: bytes = b""
    status: int = 200
    content_type: str = "text/html; charset=utf-8"
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Raw:
    """Bytes as they are; a number among them is a pause in seconds."""

    parts: Iterable[bytes | float]
    end: End = End.CLOSE


@dataclass(slots=True)
class Seen:
    """One request as it came, with the monotonic times of its first byte and its answer.

    Args:
        connection: which connection it came on, counted from 1.
        target: what stands in the request line; `path` is that without the query.
        is_late: whether its sender was gone when it was read, so that it came some time before.
    """

    connection: int
    method: str
    target: str
    headers: dict[str, str]
    started_s: float
    ended_s: float | None = None
    is_late: bool = False
    body: bytes = b""

    @property
    def path(self) -> str:
        """The target without its query."""
        return self.target.partition("?")[0]

    @property
    def host(self) -> str:
        """The Host header."""
        return self.headers.get("host", "")


Answer = Reply | Raw
Route = Answer | Callable[[Seen], Answer]


@dataclass
class Site:
    """A site on loopback, up between `with` and its end.

    Args:
        routes: answers by path; a callable is asked each time.
        otherwise: the answer for every other path.
        address: which address to listen on, for several "machines" on 127.0.0.0/8.
        tls: a server context, if the site speaks https.
    """

    routes: Mapping[str, Route]
    otherwise: Route = field(default_factory=lambda: Reply(b"<h1>not here</h1>", status=404))
    address: str = "127.0.0.1"
    tls: ssl.SSLContext | None = None
    log: list[Seen] = field(default_factory=list)
    connections: int = 0
    port: int = 0

    def url(self, path: str = "/", *, host: str | None = None) -> str:
        """Return the URL of a path, under another host name if one is given."""
        name = host or (f"[{self.address}]" if ":" in self.address else self.address)
        return f"{'https' if self.tls else 'http'}://{name}:{self.port}{path}"

    def __enter__(self) -> Site:
        self._talks: dict[asyncio.Task[None], asyncio.StreamWriter] = {}
        self._started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = Future()
        self._thread = threading.Thread(target=self._run, name="geomi-site", daemon=True)
        self._thread.start()
        self._started.result(START_TIMEOUT_S)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        loop, over = self._started.result()
        loop.call_soon_threadsafe(over.set)
        self._thread.join(START_TIMEOUT_S)

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:
            if self._started.done():
                raise
            self._started.set_exception(error)

    async def _serve(self) -> None:
        server = await asyncio.start_server(
            self._welcome, self.address, self.port, ssl=self.tls, limit=MAX_HEAD_BYTES
        )
        self.port = server.sockets[0].getsockname()[1]
        loop, over = asyncio.get_running_loop(), asyncio.Event()
        self._started.set_result((loop, over))
        await over.wait()
        for _ in range(TURNS_OF_ACCEPT):
            await asyncio.sleep(0)
        server.close()
        for talk in self._talks:
            talk.cancel()
        if self._talks:
            await asyncio.wait([*self._talks])

    def _welcome(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        talk = asyncio.get_running_loop().create_task(
            self._talk(reader, writer, self.connections), name=f"connection {self.connections}"
        )
        self._talks[talk] = writer
        talk.add_done_callback(self._part)  # reached even by a talk that is cancelled unbegun

    async def _talk(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int
    ) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):  # the peer left
            await self._answer_all(reader, writer, number)

    def _part(self, talk: asyncio.Task[None]) -> None:
        transport = self._talks.pop(talk).transport
        # One that closed after its last byte had to wait has no loop any more to be aborted on.
        if talk.cancelled() or not transport.is_closing():
            transport.abort()

    async def _answer_all(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int
    ) -> None:
        goes_on = True
        while goes_on:
            seen = _read_head(await reader.readuntil(b"\r\n\r\n"), number)
            seen.is_late = _is_left(writer)
            seen.body = await reader.readexactly(int(seen.headers.get("content-length", 0)))
            self.log.append(seen)
            route = self.routes.get(seen.path, self.otherwise)
            answer = route(seen) if callable(route) else route
            if isinstance(answer, Reply):
                # Noted before the bytes leave: nobody can have them sooner, and this thread may be
                # woken long after somebody has.
                seen.ended_s = time.monotonic()
                writer.write(_render(answer))
                await writer.drain()
                goes_on = ("connection", "close") not in _lower(answer.headers)
                if not goes_on:
                    await _close(writer)
            else:
                goes_on = await _send_raw(answer, writer)
                seen.ended_s = time.monotonic()


async def _send_raw(answer: Raw, writer: asyncio.StreamWriter) -> bool:
    for part in answer.parts:
        if isinstance(part, bytes):
            writer.write(part)
            await writer.drain()
        else:
            await asyncio.sleep(part)
    match answer.end:
        case End.CLOSE:
            await _close(writer)
        case End.RESET:
            linger = struct.pack("ii", 1, 0)  # on, with no time: close() sends a reset
            connection = writer.get_extra_info("socket")
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            writer.transport.abort()
        case End.SILENCE:
            await asyncio.Event().wait()
        case End.KEEP:
            return True
    return False


def _is_left(writer: asyncio.StreamWriter) -> bool:
    """Whether the other end is gone, as far as the system knows: this thread may come late."""
    if sys.platform != "linux":
        return False
    state = writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)
    return bool(state[0] != TCP_ESTABLISHED)


async def _close(writer: asyncio.StreamWriter) -> None:
    """Close in an orderly way, so that what was written arrives."""
    writer.close()
    await writer.wait_closed()


def _read_head(head: bytes, connection: int) -> Seen:
    request_line, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
    method, target, _ = request_line.split(" ", 2)
    fields = (line.partition(":") for line in lines)
    headers = {name.lower(): value.strip() for name, _, value in fields}
    return Seen(connection, method, target, headers, time.monotonic())


def _render(reply: Reply) -> bytes:
    try:
        reason = HTTPStatus(reply.status).phrase
    except ValueError:
        reason = "Unknown"
    lines = [f"HTTP/1.1 {reply.status} {reason}"]
    if reply.content_type:
        lines.append(f"Content-Type: {reply.content_type}")
    if reply.status not in (204, 304):
        lines.append(f"Content-Length: {len(reply.body)}")
    lines += [f"{name}: {value}" for name, value in reply.headers]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + reply.body


def _lower(headers: tuple[tuple[str, str], ...]) -> set[tuple[str, str]]:
    return {(name.lower(), value.lower()) for name, value in headers}
