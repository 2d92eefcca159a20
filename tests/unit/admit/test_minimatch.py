"""What a glob means where minimatch's own reading was asked for (C-23)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomi.admit.glob import compile
from geomi.errors import ConfigError
from geomi.model.config import GlobStyle
from geomi.url.parse import parse


def matches(pattern: str, tail: str, style: GlobStyle = GlobStyle.MINIMATCH) -> bool:
    """Tell whether a pattern means `https://a.test` + tail."""
    url = parse("https://a.test" + tail)
    assert url is not None
    return compile((pattern,), style).first(url) is not None


# Each line was compared with minimatch 5.1.
@pytest.mark.parametrize(
    ("pattern", "tail", "expected"),
    [
        ("/docs/**", "/docs", False),
        ("/docs/**", "/docs/", True),
        ("/docs/**", "/docs/a/b", True),
        ("/docs/**", "/docs/.well-known/x", False),
        ("/docs/**", "/docs/a/.x", False),
        ("/docs/.*", "/docs/.x", True),
        ("/docs/.well-known/**", "/docs/.well-known/x", True),
        ("/docs/*", "/docs/.x", False),
        ("/docs/?x", "/docs/.x", False),
        ("/docs/*", "/docs/", False),
        ("/docs/*", "/docs/a/", True),
        ("/docs/*", "/docs/a/b", False),
        ("/**/b", "/b", True),
        ("/**/b", "/a/.x/b", False),
        ("/a/**/b", "/a/b", True),
        ("/a/**/b/**/c", "/a/b/b/x/c", True),
        ("/v1**", "/v1.2", True),
        ("/v1**", "/v1.2/x", False),
        ("/docs", "/docs", True),
        ("/docs", "/docs/", True),
        ("/docs", "/docs/a", False),
        ("/{a,b}/*", "/b/x", True),
        ("/{a,b}/*", "/c/x", False),
        ("/[ab]x", "/bx", True),
        ("**", "/docs", True),
        ("https://a.test/docs/**", "/docs/x", True),
        ("https://a.test/docs/**", "/docs", False),
        ("*/*logout*", "/user/logout/now", False),
    ],
)
@pytest.mark.req("SCP-01")
def test_matching(pattern: str, tail: str, expected: bool) -> None:
    """The repairs are taken back: `X/**` is not `X`, dots are hidden, nothing is a prefix."""
    assert matches(pattern, tail) is expected


@pytest.mark.parametrize("pattern", ["/@(a|b)", "/!(a)", "/a+(b)", "/?(a)", "/*(a)"])
def test_extended_globs_are_refused(pattern: str) -> None:
    """Better no reading than another one."""
    with pytest.raises(ConfigError) as refusal:
        compile((pattern,), GlobStyle.MINIMATCH)
    assert "extended glob" in refusal.value.message


def test_expressions_are_the_same_in_both_styles() -> None:
    """`re:` is no glob."""
    assert matches("re:^/docs$", "/docs")


TOKENS = st.sampled_from(["/", "a", "b", ".", "*", "**", "?", "/**/", "/**"])
PATTERNS = st.lists(TOKENS, max_size=8).map(lambda tokens: "/" + "".join(tokens))
PATHS = st.text(alphabet="ab./", max_size=12).map(lambda text: "/" + text)


@given(PATTERNS, PATHS)
def test_strict_means_less(pattern: str, path: str) -> None:
    """What minimatch takes, the repaired reading takes too: a crawl only ever gets narrower."""
    if matches(pattern, path):
        assert matches(pattern, path, GlobStyle.REPAIRED)
