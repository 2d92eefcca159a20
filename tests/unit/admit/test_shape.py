"""The name of the space a URL may belong to, and the URLs that belong to none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomi.admit.trap import BUDGETS
from geomi.admit.url_pattern import (
    LONG_PATH_CHARS,
    MAX_NAMES,
    MAX_PARAMETERS,
    MAX_PATTERN_CHARS,
    branch_of,
    kind_of,
    loose_key,
    names,
    pattern_of,
)
from geomi.url.parse import parse, split

LONG = "/news/" + "x" * (LONG_PATH_CHARS - len("/news/"))


def pattern(tail: str) -> str:
    """Return the pattern of `https://a.test` + tail."""
    url = parse("https://a.test" + tail)
    assert url is not None
    return pattern_of(url)


@pytest.mark.parametrize(
    ("tail", "expected"),
    [
        ("/2024/01/01", "calendar:/{date}"),
        ("/2024/01", "calendar:/{date}"),
        ("/events/2024/01/31/", "calendar:/events/{date}/"),
        ("/events/2024-01-31.html", "calendar:/events/{date}.html"),
        ("/events/20240131", "calendar:/events/{date}"),
        ("/events/2024/jan/5", "calendar:/events/{date}"),
        ("/events/2024/1/5", "calendar:/events/{date}"),
        ("/events/31.12.2024", "calendar:/events/{date}"),
        ("/plan/2024-W05", "calendar:/plan/{date}"),
        ("/2024/01/31/7", "calendar:/{date}/{n}"),
        ("/cal?date=2024-01-31", "calendar:/cal?date"),
        ("/cal?date=2024-1-3", "calendar:/cal?date"),
        ("/cal?date=2024-01-31T10:00:00", "calendar:/cal?date"),
        ("/cal?year=2024&month=1", "calendar:/cal?month&year"),
        ("/cal?month=2024-01&view=week", "calendar:/cal?month&view"),
        ("/cal/2024/01/31?view=day", "calendar:/cal/{date}?view"),
    ],
)
@pytest.mark.req("TRP-02")
def test_calendars(tail: str, expected: str) -> None:
    """Dates in the path and in the query are one template."""
    assert pattern(tail) == expected


@pytest.mark.parametrize(
    ("tail", "expected"),
    [
        ("/list/page/99999", "pagination:/list/page/{n}"),
        ("/list/page-2", "pagination:/list/page-{n}"),
        ("/list/page2.html", "pagination:/list/page{n}.html"),
        ("/list?page=2", "pagination:/list?page"),
        ("/list?offset=20&limit=10", "pagination:/list?limit&offset"),
        ("/list?cursor=AbC", "pagination:/list?cursor"),
        ("/viewtopic.php?t=5&start=20", "pagination:/viewtopic.php?start&t"),
    ],
)
@pytest.mark.req("TRP-04")
def test_pagination(tail: str, expected: str) -> None:
    """Page numbers, offsets and cursors."""
    assert pattern(tail) == expected


@pytest.mark.parametrize(
    ("tail", "expected"),
    [
        ("/shop?colour=red&size=4", "parameters:/shop?*"),
        ("/shop?brand=a&sort=b&view=c", "parameters:/shop?*"),
        ("/shop?page=2&sort=a&view=b", "parameters:/shop?*"),
        ("/shop?sort=price", "parameters:/shop?sort"),
        ("/shop?page=2&sort=price", "parameters:/shop?page&sort"),
        ("/shop?x8f3=1", "parameters:/shop?{n}"),
        ("/list?page=about", "parameters:/list?page"),
        ("/shop/12?sort=a", "parameters:/shop/{n}?sort"),
        ("/view?id=5", "identifiers:/view?id"),
        ("/view?print=1&id=5", "identifiers:/view?id&print"),
        ("/?p=123", "identifiers:/?p"),
        ("/index.php?title=Silk", "identifiers:/index.php?title"),
        ("/p/7", "identifiers:/p/{n}"),
    ],
)
@pytest.mark.req("TRP-05")
def test_parameters(tail: str, expected: str) -> None:
    """What is free to be put together counts by the path (G-06), what names a thing by itself."""
    assert pattern(tail) == expected


@pytest.mark.parametrize(
    ("tail", "expected"),
    [
        ("/talk?session=12", "session:/talk?session"),
        ("/view?id=5&sid=7&lang=en", "session:/view?id=5&sid&lang=en"),
        ("/list?page=2&sid=7", "pagination:/list?page&sid"),
        ("/en/docs/en/intro", "path:/*"),
        ("/a/b/a/", "path:/*"),
        (LONG, ""),
        (LONG + "x", "long:/news/*"),
        ("/" + "x" * LONG_PATH_CHARS, "long:/*"),
        ("/item/12", "numbers:/item/{n}"),
        ("/item/12/comments", "numbers:/item/{n}/comments"),
        ("/item-12.html", "numbers:/item-{n}.html"),
        ("/c/0123456789abcdef", "numbers:/c/{n}"),
        ("/c/8c2f4d0e-1111-4222-8333-444455556666", "numbers:/c/{n}"),
        ("/blog/2024/01/my-post", "dated:/blog/{date}/my-post"),
        ("/p/12/a-product", "numbers:/p/{n}/a-product"),
        ("/rfc/2119/6", "numbers:/rfc/{n}/{n}"),
    ],
)
def test_other_spaces(tail: str, expected: str) -> None:
    """Visitors, growing paths, numbers, and dates with a name behind them."""
    assert pattern(tail) == expected


@pytest.mark.parametrize(
    "tail",
    [
        "/",
        "/docs/intro/getting-started",
        "/docs/v1/users",
        "/python3/http2.html",
        "/docs/silk-and-thread-17.html",
        "/guide/2024-in-review",
        "/en-US/docs/Web/JavaScript/Reference/Global_Objects/Array/map",
    ],
)
def test_ordinary_urls_have_none(tail: str) -> None:
    """Most URLs of documentation are counted nowhere."""
    assert pattern(tail) == ""


@given(st.text(alphabet="ab/?&=;.-_0123456789sidpage%", max_size=80))
def test_any_url_has_a_short_name(tail: str) -> None:
    """A name is bounded, names a kind that has a budget, and is the same every time."""
    found = pattern("/" + tail)
    assert len(found) <= MAX_PATTERN_CHARS
    assert found == pattern("/" + tail)
    assert found == "" or kind_of(found) in BUDGETS


def test_limits() -> None:
    """One parameter beyond the limit, and a name beyond its length."""
    many = "&".join("a=1" for _ in range(MAX_PARAMETERS))
    assert pattern(f"/x?{many}&id=1") == "parameters:/x?*"
    assert pattern(f"/x?{many[4:]}&id=1") == "identifiers:/x?a&id"
    assert len(pattern(f"/x?{'n' * MAX_PATTERN_CHARS}=1")) == MAX_PATTERN_CHARS


@pytest.mark.parametrize(
    "tail",
    [
        "/docs/café?b=2&a=1",
        "/Docs/CAF%C3%89?b=2&a=1",
        "/docs/cafe%CC%81?a=1&b=2",
        "/docs/café.html?a=1&b=2",
        "/docs/café/index.PHP?a=1&B=2",
        "/docs;v=1/café;w=2?a=1&b=2",
        "/docs/café/?a=1&b=2",
    ],
)
def test_spellings_have_one_key(tail: str) -> None:
    """Letter case, letters, endings, matrix parameters, and the order of a query."""
    url, first = parse(f"https://a.test{tail}"), parse("https://a.test/docs/café?a=1&b=2")
    assert url is not None
    assert first is not None
    assert loose_key(url) == loose_key(first)


@pytest.mark.parametrize(
    "tail", ["/docs/cafe", "/docs/café.pdf", "/café/docs", "/docs/café?a=2", "/docs/café/html"]
)
def test_other_pages_have_other_keys(tail: str) -> None:
    url, first = parse(f"https://a.test{tail}"), parse("https://a.test/docs/café")
    assert url is not None
    assert first is not None
    assert loose_key(url) != loose_key(first)


def test_names_and_branches() -> None:
    """In their order, no more than the limit."""
    parts = names(split("https://a.test/shop/a+b;c=d?e=f&g"))
    assert parts == ["shop", "a", "b", "c", "d", "e", "f", "g"]
    assert len(names(split("https://a.test" + "/x" * 3 * MAX_NAMES))) == MAX_NAMES - 1
    assert branch_of("https://a.test/a?b=1") == "branch:/a?b=1"
    assert len(branch_of("https://a.test/" + "x" * 999)) == MAX_PATTERN_CHARS


@given(st.text(max_size=200))
def test_any_url_has_a_key_and_names(text: str) -> None:
    url = parse(f"https://a.test/{text}")
    if url is not None:
        loose_key(url)
        names(url)
