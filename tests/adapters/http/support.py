"""A clock, a request and one fetch, for the tests of this folder."""

from __future__ import annotations

import asyncio
import gzip
import sys
import time
import zlib
from collections.abc import Callable, Mapping
from dataclasses import replace

import brotli  # type: ignore[import-untyped]  # ships no type information

from geomi.adapters.http import Egress, EgressRules, HttpClient
from geomi.adapters.http.names import Lookup, look_up
from geomi.model.page import Fetched, Request

if sys.version_info >= (3, 14):
    import compression.zstd as _zstd
else:
    import backports.zstd as _zstd

LOOPBACK = EgressRules(allow_private=True)
REQUEST = Request(
    url="",
    headers=(("user-agent", "geomi-test/1.0"), ("accept-encoding", "gzip, deflate, br, zstd")),
    connect_timeout_s=5.0,
    read_timeout_s=5.0,
    total_timeout_s=10.0,
    max_bytes=1024 * 1024,
)


class RealClock:
    """The monotonic clock of this process."""

    def now_s(self) -> float:
        return time.monotonic()

    def wall_s(self) -> float:
        return time.time()

    async def sleep_until(self, when_s: float) -> None:
        await asyncio.sleep(max(0.0, when_s - self.now_s()))


class HandClock(RealClock):
    """A clock that stands still until it is turned."""

    def __init__(self) -> None:
        self.time_s = 1000.0

    def now_s(self) -> float:
        return self.time_s


def request(url: str, **changes: object) -> Request:
    """Return a request for a URL, other limits on demand."""
    return replace(REQUEST, url=url, **changes)  # type: ignore[arg-type]  # names are Request's own


def fetch_all(
    *requests: Request, rules: EgressRules = LOOPBACK, lookup: Lookup = look_up
) -> list[Fetched]:
    """Send requests one after another through one client."""

    async def run() -> list[Fetched]:
        clock = RealClock()
        client = HttpClient(Egress(rules, clock, lookup), clock)
        try:
            return [await client.fetch(each) for each in requests]
        finally:
            await client.aclose()

    return asyncio.run(run())


def fetch(url: str, *, rules: EgressRules = LOOPBACK, **changes: object) -> Fetched:
    """Send one request through a client of its own."""
    return fetch_all(request(url, **changes), rules=rules)[0]


def raw_deflate(data: bytes) -> bytes:
    """Compress without the zlib wrapping."""
    compressor = zlib.compressobj(wbits=-15)
    return compressor.compress(data) + compressor.flush()


def fast_brotli(data: bytes) -> bytes:
    """Compress at a level that takes no time."""
    return bytes(brotli.compress(data, quality=3))


# How each Content-Encoding is made; `deflate` has two forms in the wild.
ENCODERS: Mapping[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": ("gzip", gzip.compress),
    "zlib": ("deflate", zlib.compress),
    "raw-deflate": ("deflate", raw_deflate),
    "br": ("br", fast_brotli),
    "zstd": ("zstd", _zstd.compress),
}
