"""The door to the parser."""

from __future__ import annotations

import pytest

from geomi.extract import dom
from geomi.extract.dom import guess_language, parse_html, select, text_of


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
    ("text", "language"),
    [
        ("The crawler reads the page and writes what it has found into the store. " * 3, "en"),
        (
            "Der Crawler liest die Seite und schreibt, was er gefunden hat, in den Speicher. " * 3,
            "de",
        ),
        ("크롤러는 페이지를 읽고 찾은 것을 저장소에 기록합니다. " * 5, "ko"),
        ("too short", ""),
        ("1234567890 " * 20, ""),
    ],
)
def test_a_language_is_guessed_only_from_enough_text(text: str, language: str) -> None:
    assert guess_language(text) == language
