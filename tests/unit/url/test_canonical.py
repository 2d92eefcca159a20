"""When two hrefs are one by the standard, and how that identity is named."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomi.url.parse import canonical, display, displayed, parse, url_hash

ESCAPES = st.text(alphabet="%0123456789abcdefABCDEF/7eE가", max_size=30)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/a", "/a"),
        ("/%2f%3a", "/%2F%3A"),
        ("/%7euser/%41", "/~user/A"),
        ("/%E4%B8%AD", "/%E4%B8%AD"),
        ("/중", "/%EC%A4%91"),
        ("/100%", "/100%25"),
        ("/%zz", "/%25zz"),
        ("/%%37e", "/%257e"),
        ("/%25zz", "/%25zz"),
        ("/\ud800", "/%ED%A0%80"),
    ],
)
def test_canonical(text: str, expected: str) -> None:
    """Only what RFC 3986 §6.2.2 calls equivalent is merged (C-19)."""
    assert canonical(text) == expected


@given(st.text() | ESCAPES)
def test_twice_is_once(text: str) -> None:
    """A canonical spelling is its own."""
    once = canonical(text)
    assert canonical(once) == once
    assert once.isascii()


@given(ESCAPES)
def test_canonical_is_what_the_parser_keeps(path: str) -> None:
    """Reading a canonical href again changes nothing: no escape turned into a dot segment."""
    url = parse("https://a.test/" + path)
    assert url is not None
    again = parse(canonical(url.href))
    assert again is not None and again.href == canonical(url.href)


@pytest.mark.parametrize(
    ("href", "expected"),
    [
        ("https://docs.stripe.com/api/%E4%B8%AD", "https://docs.stripe.com/api/中"),
        ("https://a.test/%2F%20%25", "https://a.test/%2F%20%25"),
        ("https://a.test/%ff%e4", "https://a.test/%FF%E4"),
        ("https://a.test/%E2%80%AEgpj", "https://a.test/%E2%80%AEgpj"),
        ("https://a.test/%E4%B8%AD%E2%80%8B", "https://a.test/中%E2%80%8B"),
        (
            "https://a.test/%EF%BC%8F%E2%81%84%EF%BC%85",
            "https://a.test/%EF%BC%8F%E2%81%84%EF%BC%85",
        ),
        ("https://a.test/%E3%85%A4%EF%BE%A0", "https://a.test/%E3%85%A4%EF%BE%A0"),
        ("https://xn--3e0b707e.test/", "https://xn--3e0b707e.test/"),
    ],
)
@pytest.mark.req("URL-11")
def test_display(href: str, expected: str) -> None:
    """Letters are readable; separators, spaces and invisible characters stay escaped."""
    assert display(href) == expected


def test_urls_in_a_text_are_shown_so() -> None:
    text = "`http://a.test/%E4%B8%AD`: 50% of https://a.test/%2F, not ftp://a.test/%E4%B8%AD…"
    assert displayed(text) == text.replace("http://a.test/%E4%B8%AD", "http://a.test/中")


@given(st.text())
def test_a_shown_url_is_the_same_url(path: str) -> None:
    found = parse(f"https://a.test/{path}")
    assert found is not None
    shown = display(found.href)
    assert shown.isprintable() and " " not in shown
    assert canonical(shown) == canonical(found.href)


@pytest.mark.req("URL-18")
def test_hash() -> None:
    """Keys hold the first 16 bytes of the SHA-256 that stands on the wire."""
    expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert url_hash("abc") == bytes.fromhex(expected)[:16]
