"""The gate's settings are read as curl and other tools write them, or refused."""

from __future__ import annotations

import pytest

from geomi.adapters.http.rules import (
    BLOCKED_PORTS,
    MAX_PORT,
    Override,
    Proxies,
    Proxy,
    parse_no_proxy,
    parse_override,
    parse_proxy,
)
from geomi.errors import ConfigError


def test_blocks_the_ports_that_browsers_block() -> None:
    """As many as the Fetch standard lists; none of those that web servers like to use."""
    assert len(BLOCKED_PORTS) == 83
    assert {0, 1, 21, 22, 23, 25, 53, 110, 143, 389, 465, 636, 993, 6000, 10080} <= BLOCKED_PORTS
    assert BLOCKED_PORTS.isdisjoint({80, 443, 591, 3000, 5000, 8000, 8008, 8080, 8443, 8888, 9000})
    assert all(0 <= port <= MAX_PORT for port in BLOCKED_PORTS)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a.test:80:127.0.0.1", Override("a.test", 80, "127.0.0.1", 80)),
        ("A.Test:443:127.0.0.1:8443", Override("a.test", 443, "127.0.0.1", 8443)),
        ("a.test:443:[::1]", Override("a.test", 443, "::1", 443)),
        ("a.test:443:[2001:db8::1]:8443", Override("a.test", 443, "2001:db8::1", 8443)),
        ("[::1]:80:127.0.0.1", Override("::1", 80, "127.0.0.1", 80)),
    ],
)
def test_reads_an_override(text: str, expected: Override) -> None:
    assert parse_override(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "", "a.test", "a.test:80", ":80:127.0.0.1", "a.test:x:127.0.0.1", "a.test:80:b.test",
        "a.test:80:127.0.0.1:0", "a.test:65536:127.0.0.1", "a.test:80:::1", "a.test:80:[::1",
        "a.test:80:127.0.0.1:80:80", "a.test:80:127.1", "a.test:-1:127.0.0.1", "a.test:²:127.0.0.1",
    ],
)  # fmt: skip
def test_refuses_an_override_that_says_nothing(text: str) -> None:
    with pytest.raises(ConfigError) as refused:
        parse_override(text)
    assert text in refused.value.message
    assert "HOST:PORT:ADDRESS" in refused.value.hint


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("http://proxy.test:3128", Proxy("proxy.test", 3128)),
        ("proxy.test:3128", Proxy("proxy.test", 3128)),
        ("http://proxy.test/", Proxy("proxy.test", 80)),
        ("http://[::1]:3128", Proxy("::1", 3128)),
        ("http://me:p%40ss@proxy.test:1", Proxy("proxy.test", 1, "Basic bWU6cEBzcw==")),
    ],
)
def test_reads_a_proxy(text: str, expected: Proxy) -> None:
    assert parse_proxy(text) == expected


@pytest.mark.parametrize(
    "text", ["", "https://proxy.test", "socks5://u:secret@p.test", "http://u:secret@p.test:x"]
)
def test_refuses_a_proxy_it_cannot_use_and_keeps_its_password(text: str) -> None:
    with pytest.raises(ConfigError) as refused:
        parse_proxy(text)
    assert "secret" not in refused.value.message


@pytest.mark.parametrize(
    ("no_proxy", "host", "port", "is_direct"),
    [
        ("a.test", "a.test", 80, True),
        ("a.test", "www.a.test", 80, True),
        (".a.test", "www.a.test", 80, True),
        ("*.a.test", "www.a.test", 80, True),
        ("a.test", "nota.test", 80, False),
        ("b.test, a.test:8080", "a.test", 8080, True),
        ("a.test:8080", "a.test", 80, False),
        ("127.0.0.1", "127.0.0.1", 80, True),
        ("::1", "::1", 80, True),
        ("[::1]:80", "::1", 80, True),
        ("*", "a.test", 80, True),
        ("", "a.test", 80, False),
        (" , ", "a.test", 80, False),
    ],
)
def test_asks_directly_what_no_proxy_names(
    no_proxy: str, host: str, port: int, is_direct: bool
) -> None:
    proxy = Proxy("p.test", 3128)
    proxies = Proxies(http=proxy, no_proxy=parse_no_proxy(no_proxy))
    assert proxies.of(host, port, tls=False) == (None if is_direct else proxy)
    assert proxies.of(host, port, tls=True) is None
