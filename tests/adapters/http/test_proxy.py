"""A real forward proxy on loopback: the gate judges the target before the proxy hears of it."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import trustme

from geomi.adapters.http import Egress, EgressRules, HttpClient, Proxies, Proxy, parse_override
from geomi.adapters.http.names import Lookup, Records, look_up
from geomi.model.page import Fetched
from geomi.model.verdict import Outcome
from tests.adapters.http.support import RealClock, fetch, request
from tests.support.server import Reply, Site
from tests.support.waiting import waits

PAGE = b"<p>hello</p>" * 500
SECRET = "Basic bWU6c2VjcmV0"


@dataclass
class ForwardProxy:
    """Passes absolute-form requests and tunnels on to one port of loopback, whatever the name."""

    target_port: int
    tunnel_answer: bytes = b"HTTP/1.1 200 Connection established\r\n\r\n"
    heads: list[str] = field(default_factory=list)
    port: int = 0
    _talks: list[asyncio.Task[None]] = field(default_factory=list)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        server = await asyncio.start_server(self._welcome, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield
        finally:
            server.close()
            for talk in self._talks:
                talk.cancel()
            if self._talks:
                await asyncio.wait(self._talks)

    def _welcome(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        talk = asyncio.create_task(self._talk(reader, writer))
        talk.add_done_callback(lambda _: writer.transport.abort())
        self._talks.append(talk)

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):  # nobody there
            await self._pass_on(reader, writer)

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self.target_port)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._requests(reader, writer, far_writer))
                group.create_task(_pour(far_reader, writer))
        finally:
            far_writer.transport.abort()

    async def _requests(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        far_writer: asyncio.StreamWriter,
    ) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                self.heads.append(head.decode())
                if head.startswith(b"CONNECT "):
                    writer.write(self.tunnel_answer)
                    await _pour(reader, far_writer)
                    return
                method, url, rest = head.split(b" ", 2)
                far_writer.write(b" ".join([method, b"/" + url.split(b"/", 3)[3], rest]))
        except (ConnectionError, asyncio.IncompleteReadError):
            far_writer.transport.abort()


async def _pour(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except ConnectionError:
        pass
    finally:
        writer.transport.abort()


@waits
async def fetch_by(
    proxy: ForwardProxy,
    url: str,
    *,
    lookup: Lookup,
    ca_file: Path | None = None,
    no_proxy: tuple[str, ...] = (),
    allow_private: bool = False,
    times: int = 1,
) -> list[Fetched]:
    """Fetch through a proxy that stands on loopback, whose own address nobody judges."""

    def look(name: str) -> tuple[str, ...] | Records:
        return look_up(name) if name == "127.0.0.1" else lookup(name)

    async with proxy.running():
        hop = Proxy("127.0.0.1", proxy.port, SECRET)
        rules = EgressRules(allow_private, (), ca_file, Proxies(hop, hop, no_proxy))
        clock = RealClock()
        client = HttpClient(Egress(rules, clock, look), clock)
        try:
            return [await client.fetch(request(url)) for _ in range(times)]
        finally:
            await client.aclose()


def public(name: str) -> tuple[str, ...]:
    return ("93.184.216.34",)


def test_plain_http_is_asked_of_the_checked_address() -> None:
    """The proxy hears no name, which might mean another address to it; the server hears its own."""
    with Site({"/a": Reply(PAGE)}) as site:
        proxy = ForwardProxy(site.port)
        fetched = fetch_by(proxy, "http://shop.test/a?b=c", lookup=public, times=2)
    assert [(each.failure, each.body, each.ip) for each in fetched] == [
        (None, PAGE, "93.184.216.34")
    ] * 2
    head = "CONNECT 93.184.216.34:80 HTTP/1.1\r\nHost: 93.184.216.34:80\r\n"
    assert len(proxy.heads) == 1 and proxy.heads[0].startswith(head)
    assert f"Proxy-Authorization: {SECRET}\r\n" in proxy.heads[0]
    assert {seen.headers["host"] for seen in site.log} == {"shop.test"}
    assert all("proxy-authorization" not in seen.headers for seen in site.log)


def test_an_address_over_http_goes_in_absolute_form() -> None:
    with Site({"/a": Reply(PAGE)}) as site:
        proxy = ForwardProxy(site.port)
        fetched = fetch_by(proxy, "http://93.184.216.34/a?b=c", lookup=public, times=2)
    assert [(each.failure, each.body, each.ip) for each in fetched] == [
        (None, PAGE, "93.184.216.34")
    ] * 2
    assert proxy.heads[0].startswith(
        "GET http://93.184.216.34/a?b=c HTTP/1.1\r\nHost: 93.184.216.34\r\n"
    )
    assert f"Proxy-Authorization: {SECRET}\r\n" in proxy.heads[0]


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="module")
def ca_file(authority: trustme.CA, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ca") / "ca.pem"
    authority.cert_pem.write_to_path(str(path))
    return path


def test_https_goes_through_a_tunnel(authority: trustme.CA, ca_file: Path) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("shop.test").configure_cert(context)
    with Site({"/": Reply(PAGE)}, tls=context) as site:
        proxy = ForwardProxy(site.port)
        fetched = fetch_by(proxy, "https://shop.test/", lookup=public, ca_file=ca_file, times=2)
    assert [(each.failure, each.body) for each in fetched] == [(None, PAGE)] * 2
    assert len(proxy.heads) == 1
    assert proxy.heads[0].startswith("CONNECT shop.test:443 HTTP/1.1\r\nHost: shop.test:443\r\n")
    assert "proxy-authorization" not in site.log[0].headers


@pytest.mark.parametrize("url", ["http://inside.test/", "https://inside.test/"])
def test_a_private_target_is_refused_before_the_proxy_hears_of_it(url: str) -> None:
    proxy = ForwardProxy(0)
    fetched = fetch_by(proxy, url, lookup=lambda name: ("93.184.216.34", "10.0.0.1"))
    assert (fetched[0].failure, proxy.heads) == (Outcome.ADDRESS_REFUSED, [])


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", "407 Proxy Authentication"),
        (b"HTTP/1.1 200 OK\r\n\r\nand more", "not an HTTP response"),
        (b"x" * 70_000, "not an HTTP response"),
        (b"", "within"),
    ],
)
@waits
async def test_a_refused_tunnel_is_a_failure(answer: bytes, words: str) -> None:
    with Site({}) as site:
        proxy = ForwardProxy(site.port, tunnel_answer=answer)

        async with proxy.running():
            hop = Proxy("127.0.0.1", proxy.port)
            clock = RealClock()
            egress = Egress(EgressRules(allow_private=True, proxies=Proxies(hop, hop)), clock)
            client = HttpClient(egress, clock)
            fetched = await client.fetch(
                request(f"https://127.0.0.1:{site.port}/", connect_timeout_s=0.3)
            )
            await client.aclose()
    assert fetched.failure in (Outcome.CONNECT_ERROR, Outcome.TIMEOUT)
    assert words in fetched.detail


def test_no_proxy_goes_direct() -> None:
    with Site({"/": Reply(PAGE)}) as site:
        proxy = ForwardProxy(0)
        fetched = fetch_by(
            proxy,
            site.url(host="shop.test"),
            lookup=lambda name: ("127.0.0.1",),
            no_proxy=("shop.test",),
            allow_private=True,
        )
    assert (fetched[0].body, proxy.heads) == (PAGE, [])


def test_an_override_leads_past_the_proxy() -> None:
    with Site({"/": Reply(PAGE)}) as site:
        proxies = Proxies(http=Proxy("proxy.test", 3128))
        override = parse_override(f"shop.test:{site.port}:127.0.0.1")
        rules = EgressRules(overrides=(override,), proxies=proxies)
        fetched = fetch(site.url(host="shop.test"), rules=rules)
    assert (fetched.body, site.log[0].target) == (PAGE, "/")
