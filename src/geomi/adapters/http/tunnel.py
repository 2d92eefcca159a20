"""A tunnel through a forward proxy (RFC 9110 §9.3.6): CONNECT, its answer, and a bare transport.

Rules: the proxy's answer is bounded; anything but 2xx, and any byte after its headers, is a
failure, because in a tunnel the target never speaks before TLS does.
"""

from __future__ import annotations

import asyncio
from typing import cast

from geomi.adapters.http.failure import FetchFailed
from geomi.adapters.http.rules import Proxy
from geomi.model.verdict import Outcome

MAX_ANSWER_BYTES = 64 * 1024
_HEAD_END = b"\r\n\r\n"


async def open_tunnel(
    proxy: Proxy, proxy_address: str, target: tuple[str, int]
) -> asyncio.Transport:
    """Ask a proxy for a tunnel to the target; return its transport with reading paused."""
    loop = asyncio.get_running_loop()
    transport, waiting = await loop.create_connection(_Tunnel, proxy_address, proxy.port)
    try:
        transport.write(_connect_request(proxy, target))
        answer = await waiting.answer
        _, _, status_and_reason = answer.partition(b" ")
        if not status_and_reason.startswith(b"2"):
            raise FetchFailed(
                Outcome.CONNECT_ERROR,
                f"the proxy `{proxy.host}` refused a tunnel to `{target[0]}`: "
                + status_and_reason.partition(b"\r\n")[0][:80].decode("latin-1"),
            )
    except BaseException:
        transport.abort()
        raise
    return transport


class _Tunnel(asyncio.Protocol):
    """Collects the proxy's answer up to the end of its headers."""

    def __init__(self) -> None:
        self.answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._data = bytearray()
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's is none by inheritance

    def data_received(self, data: bytes) -> None:
        self._data += data
        end = self._data.find(_HEAD_END)
        if end < 0 and len(self._data) <= MAX_ANSWER_BYTES:
            return
        if self._transport is not None:
            self._transport.pause_reading()
        if end + len(_HEAD_END) != len(self._data):
            self._end(None, "its answer is not an HTTP response")
        else:
            self._end(bytes(self._data), "")

    def connection_lost(self, exc: Exception | None) -> None:
        self._end(None, "it closed the connection")

    def _end(self, answer: bytes | None, problem: str) -> None:
        if self.answer.done():
            return
        if answer is not None:
            self.answer.set_result(answer)
        else:
            self.answer.set_exception(OSError(f"the proxy opened no tunnel: {problem}"))


def _connect_request(proxy: Proxy, target: tuple[str, int]) -> bytes:
    host, port = target
    authority = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    lines = [f"CONNECT {authority} HTTP/1.1", f"Host: {authority}"]
    if proxy.authorization:
        lines.append(f"Proxy-Authorization: {proxy.authorization}")
    return "\r\n".join([*lines, "", ""]).encode("ascii")
