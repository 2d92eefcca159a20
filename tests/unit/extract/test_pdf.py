"""The text of a PDF."""

from __future__ import annotations

import importlib.util

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geomi.extract import pdf as room
from geomi.extract.page import extract
from geomi.extract.pdf import read_pdf
from geomi.model.config import Extraction
from tests.support.pdf import pdf_of

BODY = "Some body text that is long enough to be a paragraph of its own,"
PAGES = (
    ((24, "A Large Title"), (11, BODY), (11, "which goes on in an-"), (11, "other line.")),
    ((16, "1. Section"), (11, BODY), (11, "and ends."), (16, "x" * 121), (16, "2 . . . 7")),
)


@pytest.mark.req("FUT-09", "CTY-04")
def test_headings_are_what_is_larger_than_the_text() -> None:
    article = extract(pdf_of(PAGES), "http://a.test/x.pdf", "application/pdf", Extraction())
    assert article.markdown == (
        f"# A Large Title\n\n{BODY} which goes on in another line.\n\n"
        f"## 1. Section\n\n{BODY} and ends. {'x' * 121} 2 . . . 7"
    )
    assert (article.title, article.author) == ("A paper", "Kim")
    assert article.published_at == "2024-01-02T03:04:05Z"
    assert article.outline == ((1, "A Large Title"), (2, "1. Section"))
    assert (article.language, article.strategy) == ("en", "pdf")


@pytest.mark.parametrize("body", [b"", b"%PDF-1.4", b"%PDF-1.4\n%%EOF", b"no pdf at all" * 100])
def test_what_is_no_pdf_is_no_page(body: bytes) -> None:
    article = extract(body, "http://a.test/x.pdf", "application/pdf", Extraction())
    assert (article.unreadable, article.text) == (room.NOT_PDF, "")


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 900), st.binary(max_size=20))
def test_a_damaged_pdf_gives_an_answer(at: int, damage: bytes) -> None:
    body = pdf_of(PAGES)
    read_pdf(body[:at] + damage + body[at + len(damage) :])


def test_without_the_extra_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    assert read_pdf(pdf_of(PAGES)).problem == room.NO_READER


def test_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "MAX_PAGES", 1)
    assert "Section" not in read_pdf(pdf_of(PAGES)).markdown
    monkeypatch.setattr(room, "MAX_PAGES", 2)
    monkeypatch.setattr(room, "MAX_HEADINGS", 1)
    assert read_pdf(pdf_of(PAGES)).outline == ((1, "A Large Title"),)
    monkeypatch.setattr(room, "MAX_CHARS", 10)
    assert read_pdf(pdf_of(PAGES)).markdown == "# A Large "
