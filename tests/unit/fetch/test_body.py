"""Which bodies are wanted."""

from __future__ import annotations

import pytest

from geomi.fetch.response import accepts, media_type

PAGES = ("text/html", "application/xhtml+xml", "text/plain")


@pytest.mark.parametrize(
    ("content_type", "types", "expected"),
    [
        ("text/html", PAGES, True),
        ("Text/HTML; charset=utf-8", PAGES, True),
        ("text/plain;charset=x", PAGES, True),
        ("application/xhtml+xml", PAGES, True),
        ("application/pdf", PAGES, False),
        ("image/png", PAGES, False),
        ("video/mp4", PAGES, False),
        ("application/zip", PAGES, False),
        ("application/octet-stream", PAGES, False),
        ("text/htmlx", PAGES, False),
        ("text/plain", ("text/html",), False),
        ("text/css", ("text/*",), True),
        ("image/png", ("text/*",), False),
        ("image/png", ("*/*",), True),
        ("image/png", (), True),
        ("", PAGES, True),
        ("; charset=utf-8", PAGES, True),
    ],
)
def test_accepts(content_type: str, types: tuple[str, ...], expected: bool) -> None:
    assert accepts(content_type, types) is expected


@pytest.mark.parametrize(
    ("content_type", "expected"),
    [("Text/HTML ; charset=x", "text/html"), ("image/png", "image/png"), ("", ""), (";x", "")],
)
def test_media_type(content_type: str, expected: str) -> None:
    assert media_type(content_type) == expected
