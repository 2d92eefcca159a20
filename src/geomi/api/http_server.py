"""Run the HTTP/1.1 server of the app: it listens on its addresses until a signal stops it.

uvicorn speaks HTTP, and trusts a proxy before it to keep slow clients away. There may be no proxy,
so this server accepts connections itself and holds each against `Connections`. Where the process
has no file handle left for another one, it waits for a moment: asyncio's own loop would try two
thousand times at once, with a traceback for each.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from enum import Enum, auto
from functools import partial
from http import HTTPStatus
from typing import Any, cast

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from geomi.api.connections import ClientStanding, ConnectionLimits, Connections, Owed
from geomi.api.guard import HEADERS, MAX_BODY_BYTES
from geomi.api.problems import problem_response
from geomi.errors import ConfigError

# Whoever still reads an answer has this long when the server ends; streams end by themselves.
GRACE_S = 10
BACKLOG = 2048
SWEEP_S = 0.5
# After an error a connection waits in the backlog for this long, and the log gets one line.
ACCEPT_AGAIN_S = 1.0
# A cookie, a long query and what proxies add take a tenth of it.
MAX_HEADER_BYTES = 32 * 1024
# Chunks of one byte with their frames, and trailers: no body of the API comes near it.
MAX_REQUEST_BYTES = MAX_HEADER_BYTES + 8 * MAX_BODY_BYTES
# Requests that a client sends before it has read the first answer; browsers send none.
MAX_PIPELINED = 16
# What the kernel holds of an answer that was not sent yet: more would hide who does not read.
UNSENT_BYTES = 64 * 1024
RETRY_S = 5

RESET = struct.pack("ii", 1, 0)  # SO_LINGER: forget what was not sent
_GONE = frozenset({errno.ECONNABORTED, errno.EINTR, errno.EPROTO})

log = logging.getLogger("geomi.api")


class HttpServer:
    """The HTTP server of a service.

    Args:
        on_ready: is called with the address when the server listens.
    """

    def __init__(
        self,
        app: FastAPI,
        host: str,
        port: int,
        limits: ConnectionLimits,
        *,
        on_ready: Callable[[str], None],
    ) -> None:
        config = uvicorn.Config(
            app,
            host=host,
            port=port,
            http=HttpToolsProtocol,
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="warning",
            access_log=False,
            server_header=False,
            timeout_keep_alive=max(1, round(limits.idle_s)),
            timeout_graceful_shutdown=GRACE_S,
        )
        self._server = _Server(config, limits, on_ready)

    async def run(self) -> None:
        """Answer until a signal ends it."""
        await self._server.serve()

    def leave(self) -> None:
        """Let answers under way end; called again, end now."""
        self._server.force_exit = self._server.should_exit
        self._server.should_exit = True


class _Server(uvicorn.Server):
    """A server that accepts by itself, says where it listens, and takes no signal."""

    def __init__(
        self, config: uvicorn.Config, limits: ConnectionLimits, on_ready: Callable[[str], None]
    ) -> None:
        super().__init__(config)
        self._limits = limits
        self._on_ready = on_ready
        self._connections: Connections | None = None
        self._swept_s = 0.0
        self._crowded = 0

    async def startup(self, sockets: list[Any] | None = None) -> None:
        """Begin to listen."""
        assert sockets is None and self.config.host is not None
        loop = asyncio.get_running_loop()
        self._connections = connections = Connections(self._limits, loop.time)

        def connected(address: str) -> _HttpConnection:
            return _HttpConnection(self.config, self.server_state, connections, address)

        opened = await _listen(self.config.host, self.config.port)
        listeners = [_Listener(one, connections, connected) for one in opened]
        self.servers = cast("list[asyncio.Server]", listeners)  # it closes them, and no more
        self.started = True
        for one in opened:
            address, port = one.getsockname()[:2]
            shown = f"[{address}]" if ":" in address else address
            self._on_ready(f"http://{shown}:{port}/")

    async def on_tick(self, counter: int) -> bool:
        """Look after connections now and then, ten times a second being more than is needed."""
        now_s = asyncio.get_running_loop().time()
        if self._connections is not None and now_s - self._swept_s >= SWEEP_S:
            self._swept_s = now_s
            self._connections.sweep(SWEEP_S)
            self._tell_crowd(self._connections)
        return await super().on_tick(counter)

    def _tell_crowd(self, connections: Connections) -> None:
        """Say that there were too many; the log counts how often."""
        if (crowded := connections.displaced + connections.refused) > self._crowded:
            self._crowded = crowded
            log.warning(
                "more clients than connections (%d in all, %d of one address): %d so far made "
                "room for others, %d were refused",
                *(self._limits.most, self._limits.most_of_one_address),
                *(connections.displaced, connections.refused),
            )

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to the caller, which also ends other parts on them."""
        yield


async def _listen(host: str, port: int) -> list[socket.socket]:
    """Open a socket for each address of a host."""
    loop = asyncio.get_running_loop()
    try:
        bound = await loop.create_server(asyncio.Protocol, host, port, start_serving=False)
    except OSError as error:
        raise ConfigError(
            f"cannot listen on {host}:{port}: {error.strerror}",
            hint="choose another --port or --host",
        ) from error
    opened = [one.dup() for one in bound.sockets]  # closing the server closes its own
    bound.close()
    for one in opened:
        one.setblocking(False)
        one.listen(BACKLOG)
    return opened


class _Listener:
    """Accepts the connections of one socket, one after the other, for as long as there is room."""

    def __init__(
        self,
        listening: socket.socket,
        connections: Connections,
        connected: Callable[[str], _HttpConnection],
    ) -> None:
        self._listening = listening
        self._connections = connections
        self._connected = connected
        self._task = asyncio.get_running_loop().create_task(self._accept_all(), name="accept")

    def close(self) -> None:
        """Accept no more."""
        self._task.cancel()

    async def wait_closed(self) -> None:
        """Wait until no more are accepted."""
        await asyncio.wait([self._task])

    async def _accept_all(self) -> None:
        with self._listening:
            while True:
                try:
                    await self._accept()
                except OSError as error:
                    if error.errno in _GONE:
                        continue
                    log.warning("cannot accept a connection: %s", error.strerror)
                    await asyncio.sleep(ACCEPT_AGAIN_S)

    async def _accept(self) -> None:
        loop = asyncio.get_running_loop()
        accepted, address = await loop.sock_accept(self._listening)
        if not self._connections.has_room(address[0]):
            _refuse(accepted)
            return
        try:
            made = partial(self._connected, address[0])
            await loop.connect_accepted_socket(made, accepted)
        except BaseException:
            accepted.close()
            raise


def _refuse(accepted: socket.socket) -> None:
    """Tell a client that there is no room; no transport is made for it."""
    with suppress(OSError), accepted:
        accepted.setblocking(False)
        with suppress(BlockingIOError):
            accepted.recv(MAX_HEADER_BYTES)  # what was not read would take the answer with it
        told = "the service has as many connections as it may have"
        accepted.send(_answer(HTTPStatus.SERVICE_UNAVAILABLE, told, retry_s=RETRY_S))


class _Reading(Enum):
    """Which part of a request is under way."""

    NOTHING = auto()
    HEADER = auto()
    BODY = auto()


class _Refused(Exception):  # the parser takes it for an error of the client
    """A request is larger than it may be."""


class _CountedTransport:
    """A transport that counts what is written to it."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self.written = 0

    def write(self, data: bytes) -> None:
        """Write."""
        self.written += len(data)
        self._transport.write(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


class _HttpConnection(HttpToolsProtocol):
    """A connection of uvicorn's that knows what its client owes, and is held against limits."""

    def __init__(
        self,
        config: uvicorn.Config,
        server_state: ServerState,
        connections: Connections,
        address: str,
    ) -> None:
        super().__init__(config, server_state, {})
        self._crowd = connections
        self._address = address
        self._reading = _Reading.NOTHING
        self._requests = 0
        self._request_bytes = 0
        self._body_bytes = 0
        self._answer = (HTTPStatus.BAD_REQUEST, "this is not HTTP/1.1")

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn
        """Count a new connection."""
        self._counted = _CountedTransport(transport)
        super().connection_made(cast("asyncio.Transport", self._counted))
        opened = transport.get_extra_info("socket")
        if hasattr(socket, "TCP_NOTSENT_LOWAT"):
            with suppress(OSError):
                opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, UNSENT_BYTES)
        self._crowd.enter(self, self._address)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        self._crowd.leave(self)
        super().connection_lost(exc)

    def standing(self) -> ClientStanding:
        """Return how it stands now."""
        buffered = self.transport.get_write_buffer_size()
        if buffered:
            read = self._counted.written - buffered
            return ClientStanding(Owed.READING, self._requests, read, held=buffered)
        if self._reading is _Reading.BODY and not self.flow.read_paused:
            owed = Owed.BODY if self._is_answering else Owed.LEAVING
            held = self._body_bytes if self._is_answering else 0
            return ClientStanding(owed, self._requests, self._body_bytes, held=held)
        if self._is_answering:
            return ClientStanding(None, self._requests)
        is_kept = self._requests and self._reading is _Reading.NOTHING
        return ClientStanding(Owed.REQUEST if is_kept else Owed.HEADER, self._requests)

    def end(self, owed: Owed, *, is_late: bool) -> None:
        """Close it; a client that is late with its request gets an answer that says so."""
        began = owed is Owed.BODY or (owed is Owed.HEADER and self._reading is _Reading.HEADER)
        is_answered = self.cycle is not None and self.cycle.response_started
        if is_late and began and not (self._is_answering and is_answered):
            told = "the request did not arrive in time"
            self.transport.write(_answer(HTTPStatus.REQUEST_TIMEOUT, told))
            self.transport.close()
            return
        if owed is Owed.READING:  # or the kernel would keep what nobody reads
            opened = self.transport.get_extra_info("socket")
            with suppress(OSError):
                opened.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        self.transport.abort()

    def shutdown(self) -> None:
        """End with the server, without waiting for a request that is not whole."""
        if self.standing().owed in (Owed.BODY, Owed.LEAVING):
            self.transport.abort()
        else:
            super().shutdown()

    @property
    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def data_received(self, data: bytes) -> None:
        """Read on; a header, and all that frames a body, has a size that it may have."""
        if self._reading is _Reading.NOTHING:
            self._reading, self._request_bytes = _Reading.HEADER, 0
        self._request_bytes += len(data)
        super().data_received(data)
        is_header = self._reading is _Reading.HEADER
        most = MAX_HEADER_BYTES if is_header else MAX_REQUEST_BYTES
        if self._reading is not _Reading.NOTHING and self._request_bytes > most:
            self._refuse_large()
            self.send_400_response("")

    def on_message_begin(self) -> None:
        """Begin to read a request; more than one may have come at once."""
        if self._reading is not _Reading.HEADER:
            self._reading, self._request_bytes = _Reading.HEADER, 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Begin to answer."""
        size = len(self.url) + sum(len(name) + len(value) for name, value in self.headers)
        if size > MAX_HEADER_BYTES or len(self.pipeline) >= MAX_PIPELINED:
            self._refuse_large()
            raise _Refused
        self._reading, self._body_bytes = _Reading.BODY, 0
        self._requests += 1
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Take a part of a body."""
        self._body_bytes += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """A request was sent whole."""
        self._reading = _Reading.NOTHING
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """Answer what cannot be read as every other error is answered."""
        if not self.transport.is_closing():
            self.transport.write(_answer(*self._answer))
            self.transport.close()

    def _refuse_large(self) -> None:
        told = f"a header has more than {MAX_HEADER_BYTES:,} bytes, or too much comes at once"
        self._answer = (HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, told)


def _answer(status: HTTPStatus, detail: str, *, retry_s: int | None = None) -> bytes:
    """Write an answer to a client that the app never sees."""
    headers = HEADERS | ({"Retry-After": str(retry_s)} if retry_s else {})
    answer = problem_response(status, detail, headers=headers | {"Connection": "close"})
    lines = [f"HTTP/1.1 {status.value} {status.phrase}".encode()]
    lines += [name + b": " + value for name, value in answer.raw_headers]
    return b"\r\n".join([*lines, b"", bytes(answer.body)])
