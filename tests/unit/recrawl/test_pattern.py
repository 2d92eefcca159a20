"""Which pages are expected to change alike."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomi.recrawl.rate import MAX_PATTERN_CHARS, change_pattern


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/", "/*"),
        ("/index.html", "/*.html"),
        ("/docs/a", "/docs/*"),
        ("/docs/a/", "/docs/a/*"),
        ("/docs/topics/settings.HTML", "/docs/topics/*.html"),
        ("/docs/topics/deep/er/x.html", "/docs/topics/*.html"),
        ("/2024/10/a-post", "/#/#/*"),
        ("/v1.2/api/x", "/#/api/*"),
        ("/a/.hidden", "/a/*"),
        ("/a/name.of.things", "/a/*"),
        ("/a/x.html?page=2", "/a/*.html"),
        (f"/{'a' * 112}/x.html", f"/{'a' * 112}/*.html"),
        (f"/{'a' * 113}/x.html", ""),
    ],
)
def test_patterns(path: str, expected: str) -> None:
    assert change_pattern(f"https://a.test{path}") == expected
    assert len(expected) <= MAX_PATTERN_CHARS


@given(st.text(alphabet="/.abc123-", max_size=60))
def test_every_path_has_a_pattern(path: str) -> None:
    assert change_pattern(f"https://a.test/{path}").startswith("/")
