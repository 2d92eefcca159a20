"""The gate by itself: whatever reaches it, by whichever way, nothing private is dialled."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from geomi.adapters.http import Egress, EgressRules, HttpClient, Proxies, Proxy
from geomi.model.page import Fetched
from geomi.model.verdict import Outcome
from geomi.ports.web import Resolution
from tests.adapters.http.support import request
from tests.security.ground import Ground, numbered
from tests.security.spellings import HOSTS, NAMES, NO_HOSTS, PUBLIC, SCHEMES
from tests.support.clock import HandClock
from tests.support.server import Site
from tests.support.waiting import waits

REFUSED = (Outcome.ADDRESS_REFUSED, Outcome.DNS_ERROR)


@pytest.mark.req("SEC-02", "SEC-03")
def test_hosts_that_no_parser_has_seen(ground: Ground) -> None:
    """The gate does not count on a URL parser: every spelling as it is, brackets and all."""
    tables = {**HOSTS, "no host": " ".join(NO_HOSTS), "name": " ".join(NAMES.values())}
    hosts = [host for hosts in tables.values() for host in hosts.split(" ")]
    found = dict(zip(hosts, resolve_all(hosts), strict=True))
    assert {host: one for host, one in found.items() if one.failure not in REFUSED} == {}
    plain = [host for host in hosts if host.isascii() and "%" not in host]
    assert sum(found[host].failure is Outcome.ADDRESS_REFUSED for host in plain) > 100


@pytest.mark.req("SEC-01")
def test_a_request_for_another_scheme(ground: Ground) -> None:
    texts = [scheme.replace("{port}", str(ground.port)) for scheme in SCHEMES]
    fetched = fetch_all(EgressRules(allow_private=True), texts)
    assert {each.failure for each in fetched} == {Outcome.PROTOCOL_ERROR}
    ground.assert_untouched()


@pytest.mark.req("SEC-02", "SEC-03")
def test_a_proxy_hears_of_no_forbidden_target(ground: Ground) -> None:
    """What a proxy is asked to reach is judged first; its own address is configuration."""
    tried = [(n, one) for n, one in numbered() if one.url(n, ground.port) is not None]
    texts = [ground.text(each) for each in tried]
    with Site({}) as proxy:
        hop = Proxy(proxy.address, proxy.port)
        rules = EgressRules(proxies=Proxies(hop, hop))
        refused = fetch_all(rules, texts)
        refused += fetch_all(rules, [text.replace("http:", "https:", 1) for text in texts])
        assert {each.failure for each in refused} == {Outcome.ADDRESS_REFUSED}
        assert proxy.connections == 0
        ground.assert_untouched()
        (public,) = fetch_all(rules, [f"http://{PUBLIC}/"])
        assert (public.status, proxy.log[0].target) == (404, f"http://{PUBLIC}/")


@waits
async def resolve_all(hosts: Sequence[str]) -> list[Resolution]:
    """Ask the gate about some hosts, with the guard on."""
    egress = Egress(EgressRules(), HandClock())
    try:
        return [await egress.resolve(host, 80) for host in hosts]
    finally:
        egress.close()


@waits
async def fetch_all(rules: EgressRules, urls: Sequence[str]) -> list[Fetched]:
    """Send requests one after another through one client."""
    clock = HandClock()
    client = HttpClient(Egress(rules, clock), clock)
    try:
        return [await client.fetch(request(url)) for url in urls]
    finally:
        await client.aclose()
