"""What a pattern means, and that it costs no more than its length."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomi.admit.glob import (
    MAX_PATTERN_CHARS,
    MAX_REACH,
    MAX_SIZE,
    UrlPatterns,
    compile,
    refuse_costly,
)
from geomi.errors import ConfigError
from geomi.model.config import GlobStyle
from geomi.url.parse import parse

TOKENS = st.sampled_from(["/", "/", "a", "b", ".", "*", "**", "?", "/**/", "/**"])
PATTERNS = st.lists(TOKENS, max_size=9).map(lambda tokens: "/" + "".join(tokens))
PATHS = st.text(alphabet="ab./", max_size=12).map(lambda text: "/" + text)


def matches(pattern: str, tail: str) -> bool:
    """Tell whether a pattern means `https://a.test` + tail."""
    url = parse("https://a.test" + tail)
    assert url is not None
    return compile((pattern,)).first(url) == pattern


@pytest.mark.parametrize(
    ("pattern", "tail", "expected"),
    [
        # C-23: the repaired glob
        ("/docs/**", "/docs", True),
        ("/docs/**", "/docs/", True),
        ("/docs/**", "/docs/a/b.html", True),
        ("/docs/**", "/docs/.well-known/x", True),
        ("/docs/**", "/docsearch", False),
        ("/docs/changelog/**", "/docs/changelog", True),
        ("/**", "/", True),
        # one segment
        ("/docs/*", "/docs/a", True),
        ("/docs/*", "/docs/a/", True),
        ("/docs/*", "/docs/a/b", False),
        ("/docs/*.html", "/docs/a.html", True),
        ("/docs/*.html", "/docs/a.htm", False),
        ("/docs/v?/x", "/docs/v1/x", True),
        ("/docs/v?/x", "/docs/v/x", False),
        ("/docs/v[0-9]/x", "/docs/v1/x", True),
        ("/docs/v[!0-9]/x", "/docs/v1/x", False),
        ("/docs/v[!0-9]/x", "/docs/va/x", True),
        ("/docs/[]-]*[0-9]", "/docs/]a7", True),
        ("/x*[0-9]b*", "/xab1b.", True),
        ("/x*[0-9]b*", "/xab1c.", False),
        ("/a[*]b", "/a*b", True),
        ("/a[*]b", "/axb", False),
        # many segments
        ("/**/old/*.html", "/old/a.html", True),
        ("/**/old/*.html", "/x/y/old/a.html", True),
        ("/**/old/*.html", "/x/old/y/a.html", False),
        ("/a/**/b/**/c", "/a/b/b/x/c", True),
        ("/v1**", "/v1.2/x", True),
        ("/a**z", "/a/b/z", True),
        ("/a**z", "/a/b/y", False),
        ("/***/x", "/a/b/x", True),
        # alternatives
        ("/{docs,api}/**", "/api/x", True),
        ("/{docs,api}/**", "/blog/x", False),
        ("/{a,b/{c,d}}/x*", "/b/d/xy", True),
        ("/x{,y}/*", "/x/1", True),
        # case and spelling
        ("/Docs/**", "/docs/a", False),
        ("/logout", "/%6cogout", True),
        ("/가/**", "/%ea%b0%80/x", True),
        ("/a b/*", "/a%20b/c", True),
        ("/a%2fb/*", "/a%2Fb/c", True),
    ],
)
@pytest.mark.req("SCP-01")
def test_on_the_path(pattern: str, tail: str, expected: bool) -> None:
    """A pattern with a leading slash is tested on the path."""
    assert matches(pattern, tail) is expected


@pytest.mark.parametrize(
    ("pattern", "tail", "expected"),
    [
        ("/admin", "/admin", True),
        ("/admin", "/admin/users", True),
        ("/admin/", "/admin", True),
        ("/admin", "/administrator", False),
        ("/admin", "/x/admin", False),
        ("/", "/anything", True),
        ("*/*logout*", "/logout", True),
        ("*/*logout*", "/user/do-logout-now/really", True),
        ("*/*logout*", "/user/login", False),
        (r"re:\?.*token=.+", "/x?a=1&token=2", True),
        (r"re:\?.*token=.+", "/x/token=2", False),
        (r"re:^/x$", "/x?a=1", True),
        (r"re:(?i)/ADMIN", "/admin", True),
    ],
)
@pytest.mark.req("CFG-20", "SCP-03", "FUT-06")
def test_exclude_forms(pattern: str, tail: str, expected: bool) -> None:
    """A plain path, a glob, and an expression, as in seed 001 §12."""
    assert matches(pattern, tail) is expected


@pytest.mark.parametrize(
    ("pattern", "tail", "expected"),
    [
        ("https://a.test/docs", "/docs/x", True),
        ("https://a.test/*", "/docs/x", True),
        ("https://b.test/*", "/docs/x", False),
        ("http*://a.test/docs/*.html", "/docs/x.html", True),
        ("*.pdf", "/x/y.pdf", True),
        ("*.pdf", "/x/y.pdfx", False),
        ("*.pdf", "/x/y.pdf?z=1", True),
        ("**/docs/**", "/en/docs/x", True),
        ("{http,https}://a.test/docs/**", "/docs/x", True),
    ],
)
@pytest.mark.req("SCP-05")
def test_on_the_whole_url(pattern: str, tail: str, expected: bool) -> None:
    """Any other pattern is tested on the whole URL (C-25)."""
    assert matches(pattern, tail) is expected


@pytest.mark.parametrize(
    ("pattern", "tail", "expected"),
    [
        ("/search?q=*", "/search?q=x", True),
        ("/search?q=*", "/search", False),
        ("/search?q=*", "/search?p=x", False),
        ("/a?c", "/abc", True),
        ("/a?c", "/abc?x=1", True),
        ("/search", "/search?q=x", True),
        ("/*x", "/a?x", False),
        ("/list?*sort=%7e", "/list?a=1&sort=~", True),
    ],
)
def test_query(pattern: str, tail: str, expected: bool) -> None:
    """A pattern that holds `?` sees path and query, others the path alone (C-78)."""
    assert matches(pattern, tail) is expected


@pytest.mark.parametrize(
    "pattern",
    ["", "admin", "example.org/docs", "/[a", "/[]", "/[a/b]", "/[가]", "/{a", "/a}", "re:(", "re:",
     "/" + "{a,b}" * 7, "/{" * 40, "/" + "x" * MAX_PATTERN_CHARS,
     "re:" + "x" * (MAX_PATTERN_CHARS + 1)],
)  # fmt: skip
def test_refused(pattern: str) -> None:
    """A pattern that cannot be meant is refused by name, before anything starts."""
    with pytest.raises(ConfigError) as refusal:
        compile((pattern,))
    assert refusal.value.message.startswith(f"pattern `{pattern[:80]}` ")


def test_largest_patterns() -> None:
    """At the limits a pattern still compiles."""
    assert not matches("/" + "x" * (MAX_PATTERN_CHARS - 1), "/x")
    assert matches("/" + "{a,b}" * 6, "/ababab")


def list_of(shape: str, limit: int, measure: str) -> tuple[str, ...]:
    """Return as many patterns of a shape as a limit allows."""
    (cost,) = [getattr(compile((shape.format(1000),)).cost, measure)]
    return tuple(shape.format(1000 + number) for number in range(limit // cost))


@pytest.mark.parametrize(
    ("shape", "limit", "measure", "words"),
    [
        ("/{}/" + "x" * 189, MAX_SIZE, "size", "instructions"),
        ("/**/{}/" + "*?" * 21, MAX_REACH, "reach", "behind wildcards"),
        ("re:^/{}/a{{90}}", MAX_REACH, "reach", "behind wildcards"),
    ],
)
def test_cost_of_a_list(shape: str, limit: int, measure: str, words: str) -> None:
    """At its limit a list compiles, one pattern later it is refused, and named."""
    largest = list_of(shape, limit, measure)
    assert len(compile(largest).texts) > 1
    last = shape.format(9999)
    with pytest.raises(ConfigError, match=words) as refusal:
        compile((*largest, last))
    assert refusal.value.message.startswith(f"pattern `{last[:80]}` makes the list too large")


def test_cost_of_a_job() -> None:
    """Both lists of a job have one limit."""
    half = list_of("/**/{}/" + "*?" * 21, MAX_REACH // 2, "reach")
    refuse_costly(compile(half), compile(half))
    longer = compile((*half, "/**/longer/" + "*?" * 21))
    with pytest.raises(ConfigError, match="too large together"):
        refuse_costly(longer, compile(half))


def test_equal_lists_are_compiled_once() -> None:
    """Validation, plan, job and explanation share what one of them has compiled."""
    assert compile(("/docs/**", "/api")) is compile(("/docs/**", "/api"))


def test_the_first_of_a_list_decides() -> None:
    """Whatever part of the URL it is matched with."""
    url = parse("https://a.test/docs/x?q=1")
    assert url is not None
    every = ("*/docs/*", "/docs/**", "/docs/x?q=*", "re:q=1", "re:^/docs")
    for at in range(len(every)):
        texts = ("/blog/**", *every[at:], *every[:at])
        assert compile(texts).first(url) == every[at]


def test_a_full_memory_hides_no_match() -> None:
    """The largest automaton meets a URL of which each character is a new state to remember."""
    shape = "re:/(a|b)*a(a|b){{11}}c{}"
    expressions = [shape.format(number) for number in range(1000, 1080)]
    plain = [f"/{number}/{'x' * 900}" for number in range(8)]
    patterns = (*plain, *expressions)
    rng = random.Random(7)
    path = "".join(rng.choice("ab") for _ in range(8000)) + "a" + "b" * 11 + "c1079"
    url = parse(f"https://a.test/{path}")
    assert url is not None
    assert compile(patterns).cost.size > 0.9 * MAX_SIZE
    assert compile(patterns).first(url) == patterns[-1]


@given(PATTERNS, PATHS)
def test_agrees_with_the_slow_reference(pattern: str, path: str) -> None:
    """The matcher finds exactly what trying everything finds."""
    plain = not set(pattern) & set("*?")
    slow = re.sub(r"\*{2,}", "**", pattern.rstrip("/") + "/**" if plain else pattern)
    expected = reference(slow, path) or (path.endswith("/") and reference(slow, path[:-1]))
    assert found(pattern, path) is expected


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("/" + "*a" * 50, "/" + "a" * 5000, True),
        ("/" + "*a" * 50 + "b", "/" + "a" * 5000, False),
        ("/" + "*a" * 50 + "*b*", "/" + "a" * 5000, False),
        ("/" + "*?a" * 50 + "[b]", "/" + "a" * 5000, False),
        ("/" + "*?a" * 50 + "*[b]*", "/" + "a" * 5000, False),
        ("/**" * 50 + "/b", "/a" * 2000, False),
        ("/**/a" * 50 + "/b", "/a" * 2000, False),
        ("/**/a*a*a" * 20 + "/b", "/aaaa" * 1000, False),
        ("/**a" * 6 + "b", "/a" * 1000, False),
    ],
)
def test_hostile_patterns_end(pattern: str, path: str, expected: bool) -> None:
    """Patterns that take other matchers years come back."""
    assert found(pattern, path) is expected


@given(st.text(alphabet="/ab*?[]{},!^-re:\\%가", max_size=30), st.text(max_size=20))
def test_never_fails_otherwise(pattern: str, path: str) -> None:
    """Any text is a pattern or a `ConfigError`, and any path gets an answer."""
    try:
        compiled = compile((pattern,))
    except ConfigError:
        return
    url = parse(f"https://a.test/{path}")
    assert url is None or compiled.first(url) in (None, pattern)


def found(pattern: str, path: str) -> bool:
    """Tell whether a glob matches a path, which need not be that of a parsed URL."""
    return UrlPatterns([pattern], GlobStyle.REPAIRED)._on_path.matching(path, "") == [0]


def reference(pattern: str, path: str) -> bool:
    """Match by trying everything."""
    if not pattern:
        return not path
    if pattern.startswith("/**") and pattern[3:4] in ("", "/"):
        rest = path[1:].partition("/")
        below = rest[1] + rest[2]
        return reference(pattern[3:], path) or (path[:1] == "/" and reference(pattern, below))
    if pattern[0] == "*":
        wide = pattern.startswith("**")
        tail = pattern[2:] if wide else pattern[1:]
        takes = path != "" and (wide or path[0] != "/")
        return reference(tail, path) or (takes and reference(pattern, path[1:]))
    fits = path != "" and (path[0] == pattern[0] or (pattern[0] == "?" and path[0] != "/"))
    return fits and reference(pattern[1:], path[1:])
