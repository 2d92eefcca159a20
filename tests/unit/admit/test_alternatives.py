"""What braces and inner `**` stand for."""

from __future__ import annotations

import pytest

from geomi.admit.glob import (
    MAX_ALTERNATIVES,
    MAX_BRACE_DEPTH,
    MAX_WRITTEN_CHARS,
    alternatives,
)
from geomi.errors import ConfigError


@pytest.mark.parametrize(
    ("glob", "expected"),
    [
        ("/a", {"/a"}),
        ("/{a,b}", {"/a", "/b"}),
        ("/{a}", {"/a"}),
        ("/{a,{b,c}d}", {"/a", "/bd", "/cd"}),
        ("/[{]a", {"/[{]a"}),
        ("/{[,],b}", {"/[,]", "/b"}),
        ("/**/a", {"/**/a"}),
        ("**", {"**"}),
        ("/{a,a}", {"/a"}),
    ],
)
def test_written_out(glob: str, expected: set[str]) -> None:
    """Braces are written out, and nothing else; classes are left alone."""
    assert set(alternatives(glob)) == expected


def test_limit() -> None:
    """At the limit it is written out, one later it is refused."""
    names = [f"a{number}" for number in range(MAX_ALTERNATIVES)]
    assert len(alternatives(f"/{{{','.join(names)}}}")) == MAX_ALTERNATIVES
    with pytest.raises(ConfigError, match="more than 64"):
        alternatives(f"/{{{','.join(names)},a}}")


def test_depth() -> None:
    """So deep they are read, one deeper they are refused."""
    depth = MAX_BRACE_DEPTH
    assert alternatives("/" + "{" * depth + "a" + "}" * depth) == ("/a",)
    with pytest.raises(ConfigError, match="more than 8 deep"):
        alternatives("/" + "{" * (depth + 1) + "a" + "}" * (depth + 1))


def test_written_length() -> None:
    """So many characters are written out, one more is refused."""
    names = [f"{number:02}" for number in range(64)]
    tail = "x" * (MAX_WRITTEN_CHARS // 64 - 3)
    glob = f"/{{{','.join(names)}}}{tail}"
    assert sum(map(len, alternatives(glob))) == MAX_WRITTEN_CHARS
    with pytest.raises(ConfigError, match="8,193 characters in its 64 alternatives"):
        alternatives(glob.replace("63", "063"))


def test_braces_are_counted_before_they_are_written_out() -> None:
    """Two hundred pairs stand for more texts than there are atoms."""
    with pytest.raises(ConfigError, match="more than 64"):
        alternatives("/" + "{a,b}" * 200)
