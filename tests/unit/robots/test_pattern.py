"""One pattern of a robots.txt against one path."""

from __future__ import annotations

import time
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomi.robots.pattern import compare_form, compile_pattern


def covers(pattern: str, target: str) -> bool:
    return compile_pattern(pattern).matches(compare_form(target))


@pytest.mark.req("ROB-20", "ROB-22")
@pytest.mark.parametrize(
    ("pattern", "target", "expected"),
    [
        ("/private*", "/private", True),
        ("/private*", "/private123", True),
        ("/private*", "/private/x", True),
        ("/private$", "/private", True),
        ("/private$", "/private/", False),
        ("/api/*/debug$", "/api/v1/debug", True),
        ("/api/*/debug$", "/api/v1/debug/x", False),
        ("/api/*/debug$", "/api/a/b/debug", True),
        ("/a", "/abc", True),
        ("/a", "/Abc", False),
        ("/a/", "/a", False),
        ("*", "/", True),
        ("/*", "/anything?at=all", True),
        ("*.php$", "/x.php", True),
        ("*.php$", "/x.php5", False),
        ("/*?", "/a?b", True),
        ("/*?", "/a", False),
        ("/x*x$", "/x", False),
        ("/x*x$", "/xx", True),
        ("/a**b", "/a-b", True),
        ("/$", "/", True),
        ("/$", "/a", False),
        ("$", "/", False),
        ("/a$b", "/a$b", True),
        ("/ab*b*c", "/abc", False),
        ("no-slash", "/no-slash", False),
    ],
)
def test_matching(pattern: str, target: str, expected: bool) -> None:
    assert covers(pattern, target) is expected


@pytest.mark.parametrize(
    ("pattern", "target", "expected"),
    [
        # RFC 9309 §2.2.2, the table of examples
        ("/foo/bar/ツ", "/foo/bar/%E3%83%84", True),
        ("/foo/bar/%E3%83%84", "/foo/bar/ツ", True),
        ("/foo/bar/%62%61%7A", "/foo/bar/baz", True),
        ("/foo/bar/baz", "/foo/bar/%62%61%7A", True),
        # RFC 9309 §2.2.3
        ("/path/file-with-a-%2A.html", "/path/file-with-a-*.html", True),
        ("/path/file-with-a-%2A.html", "/path/file-with-a-b.html", False),
        ("/path/foo-%24", "/path/foo-$", True),
        ("/path/foo-%24", "/path/foo-$/more", True),
        # reserved characters stay what they are
        ("/a%2Fb", "/a/b", False),
        ("/a%2fb", "/a%2Fb", True),
        ("/a<b>", "/a%3Cb%3E", True),
        ('/a"{|}^`', "/a%22%7B%7C%7D%5E%60", True),
        ("/100%", "/100%", True),
        ("/100%zz", "/100%zz", True),
        ("/a//b", "/a/b", False),
    ],
)
def test_compare_form(pattern: str, target: str, expected: bool) -> None:
    assert covers(pattern, target) is expected


@pytest.mark.parametrize(("pattern", "size"), [("/a", 2), ("/a*$", 4), ("/ツ", 10), ("/%62", 2)])
def test_size_is_counted_in_compare_form(pattern: str, size: int) -> None:
    assert compile_pattern(pattern).size == size


@given(st.text(max_size=40))
def test_compare_form_is_stable(text: str) -> None:
    once = compare_form(text)
    assert once.isascii()
    assert compare_form(once) == once


@given(st.text(max_size=20))
def test_escaped_or_not_is_the_same(text: str) -> None:
    written = text.encode("utf-8", "replace").decode().replace("%", "").replace("/", "")
    assert compare_form(quote(written, safe="!#$&'()*+,;=:?@[]")) == compare_form(written)


PATHS = st.text(alphabet="ab/*$", max_size=8)


@given(PATHS, PATHS)
def test_agrees_with_a_plain_matcher(pattern: str, path: str) -> None:
    target = "/" + path
    assert compile_pattern("/" + pattern).matches(target) is slowly("/" + pattern, target)


def slowly(pattern: str, target: str) -> bool:
    """Match by trying everything."""
    if not pattern:
        return True
    if pattern == "$":
        return not target
    if pattern[0] == "*":
        return any(slowly(pattern[1:], target[start:]) for start in range(len(target) + 1))
    return target[:1] == pattern[0] and slowly(pattern[1:], target[1:])


@pytest.mark.req("ROB-25")
def test_hostile_stars_cost_no_more_than_their_length() -> None:
    pattern = compile_pattern("/" + "a*" * 3000 + "b")
    started = time.perf_counter()
    assert not pattern.matches("/" + "a" * 10_000)
    assert time.perf_counter() - started < 0.5
