"""What text means as a URL, and that the quick way to resolve links is the parser's."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomi.url.parse import MAX_TEXT_CHARS, Url, absolute, href, parse, split

BASE = "https://docs.example.com:8443/guide/intro/index.html?v=1"

# Everything that decides how a reference is read, and letters to put between.
REFERENCES = st.text(alphabet="aZ09 /\\.?#%2eE:@&=[]|~'\t\n-_가", max_size=20)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://a.test", Url("https://a.test/", "https", "a.test", 443, "/", "")),
        ("  HTTP://A.Test:80/x?y#z ", Url("http://a.test/x?y", "http", "a.test", 80, "/x", "y")),
        ("http://a.test:8080/?", Url("http://a.test:8080/?", "http", "a.test", 8080, "/", "")),
        ("https://[2A00::B]", Url("https://[2a00::b]/", "https", "[2a00::b]", 443, "/", "")),
        ("http://[::1]:81/a", Url("http://[::1]:81/a", "http", "[::1]", 81, "/a", "")),
        ("http://0x7f.1/", Url("http://127.0.0.1/", "http", "127.0.0.1", 80, "/", "")),
        ("https://me:you@a.test/@x", Url("https://a.test/@x", "https", "a.test", 443, "/@x", "")),
        ("http://가/é", Url("http://xn--o39a/%C3%A9", "http", "xn--o39a", 80, "/%C3%A9", "")),
    ],
)  # fmt: skip
@pytest.mark.req("URL-08", "URL-12", "URL-13", "URL-15")
def test_parse(text: str, expected: Url) -> None:
    """User-info, fragment and default port go; the host is lower-case ASCII (C-20, C-21)."""
    assert parse(text) == expected


@pytest.mark.parametrize(
    "text",
    ["", "a.test", "ftp://a.test/", "JavaScript:void(0)", " javascript:1", "sms:1", "file:///etc/x",
     "data:text/html,x", "https://", "https://a b/", "http://a.test:99999/", "http://\ud800/"],
)  # fmt: skip
@pytest.mark.req("URL-02", "SCP-08", "SEC-01")
def test_parse_refuses(text: str) -> None:
    """Nothing but http and https leads anywhere, however it is spelled."""
    assert parse(text) is None


def test_authority_carries_the_effective_port() -> None:
    """The frontier's host key is the same however the port is written."""
    assert split("https://a.test/b?c=1").authority == "a.test:443"
    assert split("http://a.test:8080/").authority == "a.test:8080"


@pytest.mark.parametrize(
    ("href", "target"),
    [
        ("https://a.test/b?c=1", "/b?c=1"),
        ("https://a.test/b", "/b"),
        ("https://a.test/b?", "/b?"),
        ("https://a.test/?/", "/?/"),
        ("http://a/b", "/b"),
        ("http://[::1]:81/", "/"),
    ],
)
def test_target(href: str, target: str) -> None:
    """A request line and robots.txt see path and query as they stand, a bare `?` included."""
    assert split(href).target == target


def test_relative_to_base() -> None:
    """A base is used where the text is relative, and a broken base makes no URL."""
    found = parse("../x", BASE)
    assert found is not None and found.href == "https://docs.example.com:8443/guide/x"
    assert parse("x", "about:blank") is None


def test_href_of_any_scheme() -> None:
    """The plain reading keeps scheme, user-info and fragment."""
    assert href("MAILTO:a@b.test") == "mailto:a@b.test"
    assert href("#f", "http://u:p@a.test") == "http://u:p@a.test/#f"


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("", None),
        ("  ", None),
        ("#section", None),
        (" #section", None),
        ("javascript:void(0)", None),
        ("\n JavaScript:void(0)", None),
        ("java\nscript:void(0)", None),
        ("mailto:a@b.test", None),
        ("TEL:1", None),
        ("data:text/plain,x", None),
        ("sms:1", None),
        ("ftp://a.test/", None),
        ("https://a b/", None),
        ("/api", "https://docs.example.com:8443/api"),
        ("/api#top", "https://docs.example.com:8443/api"),
        ("next.html", "https://docs.example.com:8443/guide/intro/next.html"),
        ("a/./b/../c", "https://docs.example.com:8443/guide/intro/a/c"),
        ("../up", "https://docs.example.com:8443/guide/up"),
        ("?page=2", "https://docs.example.com:8443/guide/intro/index.html?page=2"),
        ("//cdn.test/x", "https://cdn.test/x"),
        ("https://docs.example.com:8443//a", "https://docs.example.com:8443//a"),
        ("https://docs.example.com:8443", "https://docs.example.com:8443/"),
        ("https://docs.example.com:8443@evil.test/", "https://evil.test/"),
        ("HTTPS://u:p@Other.test/a b", "https://other.test/a%20b"),
        ("a b #c", "https://docs.example.com:8443/guide/intro/a%20b%20"),
    ],
)
@pytest.mark.req("URL-01", "URL-02", "URL-03", "LNK-04", "LNK-14")
def test_absolute(raw: str, expected: str | None) -> None:
    """Links of a page become absolute, or nothing."""
    assert absolute([raw], BASE) == [expected]


@pytest.mark.req("URL-03")
def test_absolute_uses_the_page_as_it_was_fetched() -> None:
    """A trailing slash decides what a relative link means (C-18)."""
    assert absolute(["guide"], "https://a.test/docs/") == ["https://a.test/docs/guide"]
    assert absolute(["guide"], "https://a.test/docs") == ["https://a.test/guide"]


def test_absolute_keeps_order_and_repetition() -> None:
    """Answers stand where their hrefs stood."""
    a, b = "https://docs.example.com:8443/a", "https://docs.example.com:8443/b"
    assert absolute(["/b", "/a", "#", "/b"], BASE) == [b, a, None, b]
    assert absolute(["/a", "https://a.test/"], "about:blank") == [None, None]


@pytest.mark.parametrize("extra", [0, 1])
def test_text_limit(extra: int) -> None:
    """At the limit a URL is read, one character later it is not."""
    start = "https://docs.example.com:8443/"
    text = start + "a" * (MAX_TEXT_CHARS - len(start) + extra)
    assert (parse(text) is None) == bool(extra)
    assert (absolute([text], BASE) == [None]) == bool(extra)


@pytest.mark.parametrize("chars", [253, 300, 301])
def test_a_long_host_is_read_by_the_parser(chars: int) -> None:
    """However long a host is, a link means what the parser says."""
    reference = f"https://{'a' * chars}/b"
    parsed = parse(reference)
    assert absolute([reference], BASE) == [parsed and parsed.href]


@given(REFERENCES)
def test_quick_resolution_is_the_parser(reference: str) -> None:
    """Copying a plain reference gives what parsing it gives."""
    (found,) = absolute([reference], BASE)
    plain = reference.strip("".join(map(chr, range(0x21))))
    parsed = parse(reference, BASE)
    if plain and not plain.startswith("#"):
        assert found == (parsed and parsed.href)
    else:
        assert found is None


@given(REFERENCES)
def test_quick_resolution_on_the_same_origin(tail: str) -> None:
    """The same holds for a link that repeats the page's own origin."""
    reference = "https://docs.example.com:8443" + tail
    parsed = parse(reference, BASE)
    assert absolute([reference], BASE) == [parsed and parsed.href]


@given(st.text() | REFERENCES.map(lambda text: "http://" + text), st.none() | st.just(BASE))
def test_parse_never_raises(text: str, base: str | None) -> None:
    """Any text is a URL or None, and a URL parses to itself."""
    url = parse(text, base)
    if url is not None:
        assert parse(url.href) == url == split(url.href)
