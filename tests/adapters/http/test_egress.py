"""The gate resolves once, checks every answer, and lets nothing private through by accident."""

from __future__ import annotations

import socket
import threading
from pathlib import Path

import pytest

from geomi.adapters.http import Egress, EgressRules, parse_override
from geomi.adapters.http import names as names_module
from geomi.adapters.http.names import Lookup, look_up
from geomi.adapters.http.rules import BLOCKED_PORTS
from geomi.errors import ConfigError
from geomi.model.verdict import Outcome
from geomi.ports.web import Resolution
from tests.adapters.http.support import HandClock, fetch
from tests.support.waiting import waits

STRICT = EgressRules()
PUBLIC, OTHER_PUBLIC = "93.184.216.34", "2606:2800:220:1::1"


@waits
async def resolve(
    host: str, port: int = 80, *, rules: EgressRules = STRICT, lookup: Lookup = look_up
) -> Resolution:
    egress = Egress(rules, HandClock(), lookup)
    try:
        return await egress.resolve(host, port)
    finally:
        egress.close()


def answers(*addresses: str) -> Lookup:
    return lambda name: addresses


@pytest.mark.req("SEC-02")
@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1", "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.1", "017700000001",
        "127.000.000.001", "0", "0.0.0.0", "localhost", "[::1]", "::1", "[::ffff:127.0.0.1]",
        "[::127.0.0.1]", "[::]", "10.0.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1",
        "[fc00::1]", "[fe80::1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]",
    ],
)  # fmt: skip
def test_refuses_private_addresses_however_they_are_written(host: str) -> None:
    """G-19: the resolver reads more spellings than any parser, so its answers are judged."""
    found = resolve(host)
    assert (found.failure, found.addresses) == (Outcome.ADDRESS_REFUSED, ())
    assert host.strip("[]") in found.detail


@pytest.mark.req("SEC-03")
@pytest.mark.parametrize(
    "host",
    [
        "169.254.169.254", "0xa9fea9fe", "168.63.129.16", "[::ffff:a9fe:a9fe]", "[fd00:ec2::254]",
        "[fd00:c1::a9fe:a9fe]", "[fd00:42::42]", "[fd00:a9fe:a9fe::1]", "[fd00:100::100:200]",
    ],
)  # fmt: skip
@pytest.mark.parametrize("allow_private", [False, True])
def test_refuses_metadata_services_always(host: str, allow_private: bool) -> None:
    found = resolve(host, rules=EgressRules(allow_private=allow_private))
    assert found.failure is Outcome.ADDRESS_REFUSED


@pytest.mark.req("SEC-02", "SEC-03")
@pytest.mark.parametrize(
    ("host", "way_out"),
    [
        ("127.0.0.1", "use --allow-private"),
        ("localhost", "use --allow-private"),
        ("192.168.1.1", "use --allow-private"),
        ("[fd12::1]", "use --allow-private"),
        ("[::ffff:10.0.0.1]", "use --allow-private"),
        ("169.254.169.254", "geomi never connects to it"),
        ("[fd00:ec2::254]", "geomi never connects to it"),
        ("100.64.0.1", "geomi never connects to it"),
        ("224.0.0.1", "geomi never connects to it"),
    ],
)
def test_a_refusal_says_what_can_be_done(host: str, way_out: str) -> None:
    """A flag is named only where it would help, and then it does."""
    found = resolve(host)
    assert way_out in found.detail
    opened = resolve(host, rules=EgressRules(allow_private=True))
    assert (opened.failure is None) == ("--allow-private" in found.detail)


@pytest.mark.parametrize("bad", ["127.0.0.1", "10.1.2.3", "::1", "::ffff:10.0.0.1", "fe80::1%lo"])
@pytest.mark.parametrize("bad_first", [False, True])
def test_one_private_answer_among_public_ones_refuses_the_name(bad: str, bad_first: bool) -> None:
    addresses = (bad, PUBLIC, OTHER_PUBLIC) if bad_first else (PUBLIC, OTHER_PUBLIC, bad)
    found = resolve("mixed.test", lookup=answers(*addresses))
    assert found.failure is Outcome.ADDRESS_REFUSED
    assert "mixed.test" in found.detail and bad in found.detail


def test_public_answers_keep_their_order() -> None:
    found = resolve("a.test", lookup=answers(OTHER_PUBLIC, PUBLIC))
    assert found == Resolution((OTHER_PUBLIC, PUBLIC), is_public=True)


def test_private_hosts_are_let_through_on_request_and_called_private() -> None:
    rules = EgressRules(allow_private=True)
    for address in ("127.0.0.1", "10.0.0.1", "fd12::1"):
        found = resolve("intranet.test", rules=rules, lookup=answers(PUBLIC, address))
        assert (found.addresses, found.is_public) == ((PUBLIC, address), False)
    for address in ("0.0.0.0", "224.0.0.1", "169.254.1.1", "nonsense"):
        found = resolve("odd.test", rules=rules, lookup=answers(address))
        assert found.failure is Outcome.ADDRESS_REFUSED


def test_an_override_speaks_for_its_host_and_port_only() -> None:
    rules = EgressRules(overrides=(parse_override("a.test:80:127.0.0.1:8080"),))
    lookup = answers("10.0.0.1")
    assert resolve("A.test", 80, rules=rules) == Resolution(("127.0.0.1",), is_public=False)
    for host, port in (("a.test", 443), ("b.a.test", 80), ("b.test", 80)):
        found = resolve(host, port, rules=rules, lookup=lookup)
        assert found.failure is Outcome.ADDRESS_REFUSED


def test_an_override_to_a_public_address_is_public() -> None:
    rules = EgressRules(overrides=(parse_override(f"a.test:80:{PUBLIC}"),))
    assert resolve("a.test", rules=rules).is_public


@pytest.mark.parametrize("port", [22, 25, 6667, 10080])
def test_ports_of_other_protocols_are_never_asked(port: int) -> None:
    assert port in BLOCKED_PORTS
    found = resolve("a.test", port, lookup=answers(PUBLIC))
    assert found.failure is Outcome.ADDRESS_REFUSED
    assert str(port) in found.detail


@pytest.mark.parametrize(
    "error", [socket.gaierror(-2, "Name or service not known"), OSError("no"), ValueError("no")]
)
def test_a_name_without_an_address_is_a_dns_error(error: Exception) -> None:
    def fails(name: str) -> tuple[str, ...]:
        raise error

    found = resolve("gone.test", lookup=fails)
    assert (found.failure, "gone.test" in found.detail) == (Outcome.DNS_ERROR, True)
    assert resolve("void.test", lookup=answers()).failure is Outcome.DNS_ERROR


@pytest.mark.parametrize("host", ["a..test", "a" * 64 + ".test", "ｌocalhost", "a\0b", ""])
def test_text_that_is_no_name_is_a_dns_error(host: str) -> None:
    assert resolve(host).failure in (Outcome.DNS_ERROR, Outcome.ADDRESS_REFUSED)


def test_a_resolver_that_does_not_answer_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(names_module, "LOOKUP_TIMEOUT_S", 0.05)
    go = threading.Event()

    def lookup(name: str) -> tuple[str, ...]:
        go.wait(5)
        return (PUBLIC,)

    found = resolve("slow.test", lookup=lookup)
    go.set()
    assert (found.failure, "0.05 s" in found.detail) == (Outcome.DNS_ERROR, True)


def test_a_refused_host_is_never_connected_to() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        port = listener.getsockname()[1]
        for host in ("127.0.0.1", "localhost", "2130706433", "0x7f.1"):
            fetched = fetch(f"http://{host}:{port}/", rules=STRICT)
            assert (fetched.failure, fetched.status) == (Outcome.ADDRESS_REFUSED, 0)
        with pytest.raises(BlockingIOError):
            listener.accept()


def test_a_file_without_certificates_is_told_at_once(tmp_path: Path) -> None:
    empty = tmp_path / "ca.pem"
    empty.write_text("nothing")
    for path in (empty, tmp_path / "missing.pem"):
        with pytest.raises(ConfigError, match=path.name):
            Egress(EgressRules(ca_file=path), HandClock())
