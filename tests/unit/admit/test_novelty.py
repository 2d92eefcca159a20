"""When two texts of one pattern tell the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomi.admit.url_pattern import MARK_BYTES, MAX_TEXT_CHARS, pattern_of, text_mark
from geomi.url.parse import parse


def mark(text: str, tail: str) -> bytes:
    """Return the mark of a text at `https://a.test` + tail."""
    url = parse("https://a.test" + tail)
    assert url is not None
    return text_mark(text, url, pattern_of(url))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("Page 1 of 99", "/list?page=1"), ("Page 2 of 99", "/list?page=2")),
        (("Results for red", "/shop?colour=red"), ("Results for blue", "/shop?colour=blue")),
        (("No events on Monday, 1st January 2024.", "/cal/2024/01/01"),
         ("No events on Tuesday, 2nd January 2024.", "/cal/2024/01/02")),
        (("No events in february", "/cal/2024/02"), ("No events in March", "/cal/2024/03")),
        (("3월 5일 (화) 일정 없음", "/cal/2024/03/05"),
         ("4월 1일 (월) 일정 없음", "/cal/2024/04/01")),
        (("You are at /x/aaaa.", "/x/aaaa"), ("You are at /x/aaaaaaaa.", "/x/aaaaaaaa")),
        (("a  b\n c", "/item/1"), ("a b c", "/item/2")),
    ],
)  # fmt: skip
def test_the_same(one: tuple[str, str], other: tuple[str, str]) -> None:
    """Numbers, days, white space and the URL itself tell nothing."""
    assert mark(*one) == mark(*other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("Silk is strong", "/item/1"), ("Silk is light", "/item/2")),
        (("Market day", "/cal/2024/01/01"), ("Fair", "/cal/2024/01/02")),
        (("It may rain on Monday", "/item/1"), ("It may rain on Tuesday", "/item/2")),
        (("가나다", "/item/1"), ("가나라", "/item/2")),
    ],
)
def test_something_else(one: tuple[str, str], other: tuple[str, str]) -> None:
    """Other words are news; names of days are, too, where nothing is a calendar."""
    assert mark(*one) != mark(*other)


@given(st.text(max_size=200))
def test_any_text_has_a_mark(text: str) -> None:
    """Whatever a page says, its mark has one size."""
    assert len(mark(text, "/cal/2024/01/01?a=%ff&b=")) == MARK_BYTES


def test_what_is_read_of_a_text() -> None:
    """A text is read up to a limit."""
    assert mark("a" * MAX_TEXT_CHARS + "b", "/item/1") == mark("a" * MAX_TEXT_CHARS, "/item/1")
    assert mark("a" * (MAX_TEXT_CHARS - 1) + "b", "/item/1") != mark(
        "a" * MAX_TEXT_CHARS, "/item/1"
    )
