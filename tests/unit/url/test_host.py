"""Which host names belong together."""

from __future__ import annotations

import pytest

from geomi.url.host import registrable_domain, same_site, split_authority


@pytest.mark.parametrize(
    ("authority", "expected"),
    [("a.test:443", ("a.test", 443)), ("[::1]:8080", ("[::1]", 8080))],
)
def test_split_authority(authority: str, expected: tuple[str, int]) -> None:
    """The last colon parts host and port, also after an IPv6 address."""
    assert split_authority(authority) == expected


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("docs.example.com", "example.com"),
        ("example.com", "example.com"),
        ("a.b.example.co.uk", "example.co.uk"),
        ("docs.example.com.", "example.com"),
        ("alice.github.io", "alice.github.io"),
        ("www.com", "www.com"),
        ("com", "com"),
        ("co.uk", "co.uk"),
        ("localhost", "localhost"),
        ("a..b", "a..b"),
        ("127.0.0.1", "127.0.0.1"),
        ("[2001:db8::1]", "[2001:db8::1]"),
        ("shop.xn--3e0b707e", "shop.xn--3e0b707e"),
    ],
)
def test_registrable_domain(host: str, expected: str) -> None:
    """One label below a public suffix; what has none is itself."""
    assert registrable_domain(host) == expected


def test_same_site() -> None:
    """Names of one domain are one site; neighbours on a hosting suffix or a network are not."""
    assert same_site("a.example.com", "b.example.com")
    assert same_site("localhost", "localhost")
    assert not same_site("alice.github.io", "bob.github.io")
    assert not same_site("10.0.0.1", "20.0.0.1")
