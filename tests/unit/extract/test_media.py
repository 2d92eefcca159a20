"""Which reader a body needs."""

from __future__ import annotations

import pytest

from geomi.extract.media import BodyFormat, body_format, is_readable, is_risky


@pytest.mark.req("C-35")
@pytest.mark.parametrize(
    ("content_type", "name", "form"),
    [
        ("text/html; charset=utf-8", "x", BodyFormat.HTML),
        ("application/xhtml+xml", "x", BodyFormat.HTML),
        ("", "x.md", BodyFormat.HTML),
        ("Text/Plain; charset=x", "x", BodyFormat.PLAIN),
        ("text/plain", "x.MD?raw=1#a", BodyFormat.MARKDOWN),
        ("text/plain", "openapi.yaml", BodyFormat.YAML),
        ("text/plain", "a.b/readme", BodyFormat.PLAIN),
        ("text/markdown", "x", BodyFormat.MARKDOWN),
        ("application/json", "x", BodyFormat.JSON),
        ("application/vnd.oai.openapi+json;version=3.0", "x", BodyFormat.JSON),
        ("text/yaml", "x", BodyFormat.YAML),
        ("application/pdf", "x", BodyFormat.PDF),
    ],
)
def test_form(content_type: str, name: str, form: BodyFormat) -> None:
    assert body_format(content_type, f"http://a.test/{name}") is form
    assert is_risky(content_type, f"http://a.test/{name}") is (
        form in (BodyFormat.JSON, BodyFormat.YAML, BodyFormat.PDF)
    )


@pytest.mark.parametrize(
    ("content_type", "readable"),
    [
        ("", True),
        ("text/html; charset=utf-8", True),
        ("Text/Plain", True),
        ("application/xhtml+xml", True),
        ("application/json", True),
        ("application/pdf", True),
        ("application/ld+json", False),
        ("image/svg+xml", False),
        ("application/zip", False),
    ],
)
@pytest.mark.req("CTY-05")
def test_only_what_has_a_reader_is_read(content_type: str, readable: bool) -> None:
    assert is_readable(content_type) is readable
