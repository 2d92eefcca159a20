"""Pages that show little without a browser."""

from __future__ import annotations

import pytest

from geomi.extract.dom import parse_html
from geomi.extract.page import MIN_FINISHED_CHARS, browser_reason, shows_little


@pytest.mark.parametrize(
    ("html", "reason"),
    [
        ("<p></p><noscript>Please enable JavaScript.</noscript>", "noscript asks for JavaScript"),
        ('<div id="root"></div><script src=a></script>', "empty application root"),
        ("<app-root> </app-root>", "empty application root"),
        ("<script src=a></script>" * 3, "scripts without text"),
        ("<script src=a></script>" * 2 + "<p>short", ""),
        (f'<div id="app">{"word " * 60}</div>', ""),
        ("<p>A short page, but a finished one.", ""),
        ("", ""),
    ],
)
def test_why_a_browser_would_show_more(html: str, reason: str) -> None:
    assert browser_reason(parse_html(html.encode(), "text/html")) == reason


def test_only_short_pages_are_suspect() -> None:
    assert shows_little("x" * (MIN_FINISHED_CHARS - 1))
    assert not shows_little("x" * MIN_FINISHED_CHARS)
