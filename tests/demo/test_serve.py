"""The sample web's server answers by host, keeps connections, and survives nonsense."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import pytest

from geomi.demo.serve import LAST_MODIFIED, MAX_HEAD_BYTES, DemoSite
from tests.support.waiting import waits

T = TypeVar("T")


@waits
async def with_site(use: Callable[[DemoSite], Awaitable[T]]) -> T:
    async with asyncio.timeout(10), DemoSite() as site:
        return await use(site)


def request(host: str, path: str, *headers: str, method: str = "GET") -> bytes:
    lines = (f"{method} {path} HTTP/1.1", f"Host: {host}", *headers)
    return "".join(f"{line}\r\n" for line in lines).encode() + b"\r\n"


async def send(site: DemoSite, *requests: bytes) -> bytes:
    """Send everything on one connection, the last with `Connection: close`, and read to its end."""
    reader, writer = await asyncio.open_connection("127.0.0.1", site.port)
    writer.write(b"".join(requests))
    try:
        return await reader.read()
    finally:
        writer.close()
        await writer.wait_closed()


def answered(*requests: bytes) -> bytes:
    return with_site(lambda site: send(site, *requests))


CLOSE = "Connection: close"


@pytest.mark.parametrize(
    ("host", "title"),
    [
        ("www.geomi.test", "Thread with a past"),
        ("docs.geomi.test", "Overview"),
        ("blog.geomi.test", "Silk Works Journal"),
        ("SHOP.geomi.test:80", "Silk, slowly"),
    ],
)
def test_hosts_are_told_apart_by_their_name(host: str, title: str) -> None:
    reply = answered(request(host, "/", CLOSE))
    assert reply.startswith(b"HTTP/1.1 200 OK\r\n")
    assert b"Content-Type: text/html; charset=utf-8\r\n" in reply
    assert f"<title>{title}".encode() in reply


def test_seeds_and_overrides_name_every_host_and_the_port() -> None:
    async def use(site: DemoSite) -> tuple[tuple[str, ...], tuple[str, ...], int]:
        return site.seeds, site.overrides, site.port

    seeds, overrides, port = with_site(use)
    assert "http://docs.geomi.test/" in seeds
    assert f"docs.geomi.test:80:127.0.0.1:{port}" in overrides
    assert len(seeds) == len(overrides) == 4


def test_head_has_the_headers_of_get_and_no_body() -> None:
    head = answered(request("www.geomi.test", "/faq", CLOSE, method="HEAD"))
    whole = answered(request("www.geomi.test", "/faq", CLOSE))
    headers, _, body = whole.partition(b"\r\n\r\n")

    def undated(block: bytes) -> list[bytes]:
        return [line for line in block.split(b"\r\n") if not line.startswith(b"Date:")]

    assert undated(head.removesuffix(b"\r\n\r\n")) == undated(headers)
    assert f"Content-Length: {len(body)}".encode() in headers


def test_two_requests_share_a_connection_and_are_logged_in_order() -> None:
    async def use(site: DemoSite) -> tuple[bytes, list[tuple[str, str, int]]]:
        reply = await send(
            site, request("www.geomi.test", "/about?x=1"), request("blog.geomi.test", "/old", CLOSE)
        )
        for visit in site.log:
            assert visit.start_s <= visit.end_s
        return reply, [(visit.host, visit.path, visit.status) for visit in site.log]

    reply, log = with_site(use)
    assert reply.count(b"HTTP/1.1 ") == 2
    assert b"Location: /older\r\n" in reply
    assert log == [("www.geomi.test", "/about?x=1", 200), ("blog.geomi.test", "/old", 301)]


@pytest.mark.parametrize(
    ("header", "status"),
    [
        ("If-None-Match: {etag}", 304),
        ('If-None-Match: "other", W/{etag}', 304),
        ('If-None-Match: "other"', 200),
        (f"If-Modified-Since: {LAST_MODIFIED}", 304),
        ("If-Modified-Since: Mon, 01 Jan 2024 00:00:00 GMT", 200),
    ],
)
def test_validators_save_the_body(header: str, status: int) -> None:
    first = answered(request("www.geomi.test", "/", CLOSE)).decode()
    etag = first.partition("ETag: ")[2].partition("\r\n")[0]
    reply = answered(request("www.geomi.test", "/", header.format(etag=etag), CLOSE))
    assert reply.startswith(f"HTTP/1.1 {status} ".encode())
    assert reply.endswith(b"\r\n\r\n") == (status == 304)


@pytest.mark.parametrize(
    "nonsense",
    [
        b"\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET /\r\nHost: www.geomi.test\r\n\r\n",
        b"GET / HTTP/9.9\r\nHost: www.geomi.test\r\n\r\n",
        b"GET index.html HTTP/1.1\r\nHost: www.geomi.test\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: www.geomi.test\r\nno colon here\r\n\r\n",
        b"\xff\xfe\x00\x80\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: www.geomi.test\r\nX: " + b"x" * MAX_HEAD_BYTES + b"\r\n\r\n",
    ],
)
def test_a_request_that_cannot_be_read_gets_400_and_the_server_goes_on(nonsense: bytes) -> None:
    async def use(site: DemoSite) -> tuple[bytes, bytes]:
        refused = await send(site, nonsense)
        return refused, await send(site, request("www.geomi.test", "/", CLOSE))

    refused, served = with_site(use)
    assert refused.startswith(b"HTTP/1.1 400 ")
    assert served.startswith(b"HTTP/1.1 200 ")


def test_other_methods_are_refused_and_a_body_ends_the_connection() -> None:
    reply = answered(
        request("shop.geomi.test", "/cart", "Content-Length: 3", method="POST") + b"a=1"
    )
    assert reply.startswith(b"HTTP/1.1 405 ")
    assert b"Allow: GET, HEAD\r\n" in reply
    assert b"Connection: close\r\n" in reply


def test_an_unknown_host_is_misdirected() -> None:
    assert answered(request("elsewhere.test", "/", CLOSE)).startswith(b"HTTP/1.1 421 ")


def test_the_torn_page_ends_before_its_promised_length() -> None:
    head, _, body = answered(request("shop.geomi.test", "/torn")).partition(b"\r\n\r\n")
    promised = int(head.partition(b"Content-Length: ")[2].partition(b"\r\n")[0])
    assert promised > len(body) > 0


def test_the_tangled_page_has_a_chunk_without_a_size() -> None:
    reply = answered(request("shop.geomi.test", "/tangled"))
    assert b"Transfer-Encoding: chunked\r\n" in reply
    assert b"Content-Length" not in reply
    assert reply.endswith(b"\r\nknot\r\n")


def test_leaving_ends_open_connections() -> None:
    async def run() -> bytes:
        async with asyncio.timeout(10):
            async with DemoSite() as site:
                reader, writer = await asyncio.open_connection("127.0.0.1", site.port)
                writer.write(request("www.geomi.test", "/", method="HEAD"))
                await reader.readuntil(b"\r\n\r\n")
            try:
                return await reader.read()
            except ConnectionResetError:
                return b""
            finally:
                writer.close()

    assert asyncio.run(run()) == b""
