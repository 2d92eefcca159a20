"""Which host names belong together."""

from __future__ import annotations

import pytest

from geomi.url.host import (
    MAX_NAME_CHARS,
    domain_name,
    is_public_suffix,
    registrable_domain,
    split_authority,
)


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


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Example.COM.", "example.com"),
        ("münchen.de", "xn--mnchen-3ya.de"),
        ("a_b.example.com", "a_b.example.com"),
        ("localhost", "localhost"),
        ("a." * (MAX_NAME_CHARS // 2) + "a", "a." * (MAX_NAME_CHARS // 2) + "a"),
        ("a." * (MAX_NAME_CHARS // 2) + "ab", None),
        ("a" * 63 + ".com", "a" * 63 + ".com"),
        ("a" * 64 + ".com", None),
        ("", None),
        ("a..b", None),
        (".a", None),
        ("-a.com", None),
        ("127.0.0.1", None),
        ("0x7f.1", None),
        ("[::1]", None),
        ("a.com:80", None),
        ("u@a.com", None),
        ("a.com/..", None),
        ("a.com\\b", None),
        ("%2e%2e", None),
        ("a\n.com", None),
        ("a\0.com", None),
        ("a!b.com", None),
        ("．．", None),
        ("a℀b.com", None),
    ],
)
def test_domain_name(text: str, name: str | None) -> None:
    """A name as the DNS has it; whatever could be part of a path or a URL's rest is none."""
    assert domain_name(text) == name


def test_public_suffix() -> None:
    """Nobody has registered what others register under."""
    assert all(map(is_public_suffix, ("sg", "gov.sg", "github.io", "localhost")))
    assert not any(map(is_public_suffix, ("mom.gov.sg", "a.github.io", "a.test")))
