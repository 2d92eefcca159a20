"""Short quotations."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geomi.search.snippet import MAX_SNIPPET_CHARS, plain_text, snippet
from geomi.search.tokens import parse_query

FILLER = "lorem ipsum dolor sit amet " * 40


def marked(text: str, query: str) -> list[str]:
    """Return the marked words of a snippet."""
    found = snippet(text, parse_query(query).wanted)
    return [found.text[start:end] for start, end in found.marks]


@pytest.mark.parametrize(
    ("markdown", "plain"),
    [
        ("# Title\n\nSome **bold** `code`.", "Title Some bold code."),
        ("- a [link](https://a.test/x_(y)) here", "a [link](https://a.test/x_(y)) here"),
        ("- a [link](https://a.test/x) ![picture](<https://a.test/(1)>)", "a link picture"),
        ("see [the end](https://a.test/tarfi", "see the end"),
        ("```py\nx = 1\n```\nend", "x = 1 end"),
        ("| a | b |\n| --- | --- |\n| 1 | 2 |", "a b 1 2"),
        (r"1 \* 2", "1 * 2"),
    ],
)
def test_plain_text(markdown: str, plain: str) -> None:
    """A quotation shows words, not markup."""
    assert plain_text(markdown) == plain


@pytest.mark.req("IDX-02")
def test_the_match_is_shown_and_marked() -> None:
    """The window is where the words are, and is short."""
    found = snippet(f"{FILLER} the needle is in the haystack {FILLER}", {"needle", "haystack"})
    assert len(found.text) <= MAX_SNIPPET_CHARS
    assert [found.text[start:end] for start, end in found.marks] == ["needle", "haystack"]
    assert found.text[0] == found.text[-1] == "…"


def test_different_words_count_more_than_one_often() -> None:
    """Three times the same word is less than two words once."""
    text = f"alpha alpha alpha {FILLER} alpha beta {FILLER}"
    assert marked(text, "alpha beta") == ["alpha", "beta"]


def test_without_a_match_the_beginning_is_shown() -> None:
    """A chunk that only its vector found begins at its beginning."""
    found = snippet(FILLER, {"absent"})
    assert found.text.startswith("lorem ipsum")
    assert found.marks == ()
    assert 150 < len(found.text) <= MAX_SNIPPET_CHARS


@pytest.mark.parametrize(
    ("text", "query", "marks"),
    [
        ("데이터베이스를 검색합니다", "데이터베이스 검색", ["데이터베이스", "검색"]),
        ("全文検索エンジン", "検索", ["検索"]),
        ("call DiffExecutor now", "executor", ["DiffExecutor"]),
        ("Café", "cafe", ["Café"]),
    ],
)
def test_marks_of_every_script(text: str, query: str, marks: list[str]) -> None:
    """What is marked is what the reader looks for."""
    assert marked(text, query) == marks


@settings(deadline=None)
@given(st.text(alphabet="ab 한글。漢字\n*`|", max_size=900), st.sampled_from(["ab", "한글", "漢"]))
def test_never_too_long(text: str, query: str) -> None:
    """Whatever comes, 200 characters are the most, and marks lie inside them."""
    found = snippet(text, parse_query(query).wanted)
    assert len(found.text) <= MAX_SNIPPET_CHARS
    assert all(0 <= start < end <= len(found.text) for start, end in found.marks)
