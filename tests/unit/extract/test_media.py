"""Which reader a body needs."""

from __future__ import annotations

import pytest

from geomi.extract.media import Form, form_of, is_readable, is_risky


@pytest.mark.req("C-35")
@pytest.mark.parametrize(
    ("content_type", "name", "form"),
    [
        ("text/html; charset=utf-8", "x", Form.HTML),
        ("application/xhtml+xml", "x", Form.HTML),
        ("", "x.md", Form.HTML),
        ("Text/Plain; charset=x", "x", Form.PLAIN),
        ("text/plain", "x.MD?raw=1#a", Form.MARKDOWN),
        ("text/plain", "openapi.yaml", Form.YAML),
        ("text/plain", "a.b/readme", Form.PLAIN),
        ("text/markdown", "x", Form.MARKDOWN),
        ("application/json", "x", Form.JSON),
        ("application/vnd.oai.openapi+json;version=3.0", "x", Form.JSON),
        ("text/yaml", "x", Form.YAML),
        ("application/pdf", "x", Form.PDF),
    ],
)
def test_form(content_type: str, name: str, form: Form) -> None:
    assert form_of(content_type, f"http://a.test/{name}") is form
    assert is_risky(content_type, f"http://a.test/{name}") is (
        form in (Form.JSON, Form.YAML, Form.PDF)
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
