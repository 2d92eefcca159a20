"""One pattern of a robots.txt against one path."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomi.model.config import Compare
from geomi.robots.match import compile_pattern, form_of

compare_form = form_of(Compare.RFC)
raw_form = form_of(Compare.RAW_UPPER_HEX)


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


@pytest.mark.parametrize("compare", Compare)
@given(text=st.text(max_size=40))
def test_a_form_is_stable(compare: Compare, text: str) -> None:
    form = form_of(compare)
    once = form(text)
    assert once.isascii()
    assert form(once) == once


@pytest.mark.parametrize(
    ("text", "raw"),
    [
        ("/a%2fb", "/a%2Fb"),
        ("/%62az", "/%62az"),
        ("//a///b/", "/a/b/"),
        ("/é", "/%C3%A9"),
        ("/100%", "/100%"),
    ],
)
def test_raw_form(text: str, raw: str) -> None:
    assert raw_form(text) == raw


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


class Counted(str):
    """A path that counts what is looked for in it, and how many characters that can touch."""

    looks = 0
    touched = 0

    def find(self, piece: str, start: int = 0) -> int:  # type: ignore[override]
        """Find as `str` does."""
        found = super().find(piece, start)
        self.looks += 1
        self.touched += (len(self) if found < 0 else found) + len(piece) - start
        return found

    def rfind(self, piece: str) -> int:  # type: ignore[override]
        """Find from the end as `str` does."""
        self.looks += 1
        self.touched += len(self)
        return super().rfind(piece)


@pytest.mark.req("ROB-25")
@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("/" + "a*" * 1000 + "b", "/" + "a" * 2047),
        ("/" + "*a" * 1000 + "$", "/" + "a" * 2046 + "b"),
        ("/" + "*ab" * 500, "/" + "aab" * 680),
        ("/*" + "a" * 500 + "*b", "/" + "a" * 2047),
    ],
)
def test_a_match_never_goes_back(text: str, path: str) -> None:
    """Each piece is looked for once, from where the one before ended, and the last one once more:
    the path is read twice at most."""
    pattern, counted = compile_pattern(text), Counted(path)
    pattern.matches(counted)
    pieces = len([piece for piece in text.split("*") if piece])
    assert counted.looks <= pieces + 1
    assert counted.touched <= 2 * len(path) + len(text)
