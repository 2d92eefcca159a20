"""TLS on loopback, with real names: certificates are checked, and nothing is weakened for tests."""

from __future__ import annotations

import gc
import ssl
from asyncio.sslproto import SSLProtocol
from pathlib import Path

import pytest
import trustme

from geomi.adapters.http import EgressRules, parse_override
from geomi.model.verdict import Outcome
from tests.adapters.http.support import fetch, fetch_all, request
from tests.support.server import Raw, Reply, Site

PAGE = b"<p>secret</p>" * 5000


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="module")
def ca_file(authority: trustme.CA, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ca") / "ca.pem"
    authority.cert_pem.write_to_path(str(path))
    return path


def server_context(authority: trustme.CA, *names: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.set_alpn_protocols(["h2", "http/1.1"])
    authority.issue_cert(*names).configure_cert(context)
    return context


def rules(site: Site, ca_file: Path | None) -> EgressRules:
    override = parse_override(f"shop.test:{site.port}:127.0.0.1")
    return EgressRules(overrides=(override,), ca_file=ca_file)


def test_a_real_name_on_loopback_with_its_own_authority(
    authority: trustme.CA, ca_file: Path
) -> None:
    names: list[str | None] = []
    context = server_context(authority, "shop.test")

    def note_name(sock: ssl.SSLObject, name: str | None, _: ssl.SSLContext) -> None:
        names.append(name)

    context.sni_callback = note_name
    with Site({"/": Reply(PAGE)}, tls=context) as site:
        visit = request(site.url(host="shop.test"))
        fetched = fetch_all(visit, visit, rules=rules(site, ca_file))
    assert [(each.failure, each.body, each.ip) for each in fetched] == [
        (None, PAGE, "127.0.0.1")
    ] * 2
    assert (site.connections, names) == (1, ["shop.test"])
    assert site.log[0].host == f"shop.test:{site.port}"


def test_a_certificate_of_another_name_is_refused(authority: trustme.CA, ca_file: Path) -> None:
    with Site({}, tls=server_context(authority, "other.test")) as site:
        fetched = fetch(site.url(host="shop.test"), rules=rules(site, ca_file))
    assert fetched.failure is Outcome.TLS_ERROR
    assert "shop.test" in fetched.detail
    assert site.log == []


def test_an_unknown_authority_is_refused(authority: trustme.CA) -> None:
    with Site({}, tls=server_context(authority, "shop.test")) as site:
        fetched = fetch(site.url(host="shop.test"), rules=rules(site, None))
    assert (fetched.failure, site.log) == (Outcome.TLS_ERROR, [])


def test_a_server_without_tls_is_a_failure(ca_file: Path) -> None:
    with Site({}) as site:
        url = site.url(host="shop.test").replace("http:", "https:")
        fetched = fetch(url, rules=rules(site, ca_file), connect_timeout_s=0.2)
    assert fetched.failure in (Outcome.TLS_ERROR, Outcome.CONNECT_ERROR, Outcome.TIMEOUT)


def test_a_body_may_end_with_the_connection(authority: trustme.CA, ca_file: Path) -> None:
    answer = Raw((b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n", PAGE))
    with Site({"/": answer}, tls=server_context(authority, "shop.test")) as site:
        fetched = fetch(site.url(host="shop.test"), rules=rules(site, ca_file))
    assert (fetched.failure, fetched.body) == (None, PAGE)


def test_a_closed_connection_lets_its_buffers_go(authority: trustme.CA, ca_file: Path) -> None:
    """Each has 256 KiB, and a crawl of many hosts closes thousands between two collections."""
    gc.collect()
    gc.disable()
    try:
        with Site({"/": Reply(PAGE)}, tls=server_context(authority, "shop.test")) as site:
            fetched = fetch(site.url(host="shop.test"), rules=rules(site, ca_file))
        kept = [it for it in gc.get_objects() if isinstance(it, SSLProtocol)]
        ours = [it for it in kept if not it._server_side]
    finally:
        gc.enable()
    assert (fetched.failure, ours) == (None, [])
