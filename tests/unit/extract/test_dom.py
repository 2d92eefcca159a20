"""The door to the parser."""

from __future__ import annotations

import pytest

from geomi.extract import dom
from geomi.extract.dom import parse_html, select, text_of


def test_input_beyond_the_limit_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dom, "MAX_HTML_BYTES", 5)
    assert parse_html(b"abcde", "text/html").text == "abcde"
    assert parse_html(b"abcdef", "text/html").text == "abcde"


def test_text_parts_are_held_apart() -> None:
    document = parse_html(b"<p>one</p><p>two <b>three</b></p><td>four", "text/html")
    assert text_of(document) == "one two three four"


def test_a_selector_that_cannot_be_read_matches_nothing() -> None:
    document = parse_html(b"<p class=x>a", "text/html")
    assert [found.tag for found in select(document, "p.x")] == ["p"]
    assert select(document, "p[") == []


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<script src='x'/><p>after</p>", "after"),
        ("<title/><p>after</p>", "after"),
        ("<p>a<br/>b</p><div class='x'/>c", "ab c"),
        ("<p><![CDATA[1 < 2 & 3]]></p>", ""),
        ("<p><![CDATA[2 & 3]]></p>", "2 & 3"),
    ],
)
def test_xhtml_is_read_as_it_is_meant(markup: str, text: str) -> None:
    document = parse_html(f"<html><body>{markup}".encode(), "application/xhtml+xml; charset=utf-8")
    assert text_of(document).replace("a b", "ab") == text
