"""What braces and inner `**` stand for."""

from __future__ import annotations

import pytest

from geomi.admit.glob import MAX_ALTERNATIVES, expand
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
        ("/a**", {"/a*", "/a*/**/*"}),
        ("/[*]**", {"/[*]*", "/[*]*/**/*"}),
    ],
)
def test_expand(glob: str, expected: set[str]) -> None:
    """Everything is written out but whole `**` segments; classes are left alone."""
    assert set(expand(glob)) == expected


def test_limit() -> None:
    """At the limit it is written out, one later it is refused."""
    names = ",".join("a" * MAX_ALTERNATIVES)
    assert len(expand(f"/{{{names}}}")) == MAX_ALTERNATIVES
    with pytest.raises(ConfigError, match="more than 64"):
        expand(f"/{{{names},a}}")
