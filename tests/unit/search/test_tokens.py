"""What a text is found by."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geomi.search.tokens import MAX_PARTS, MAX_TOKEN_CHARS, tokens, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("… --- !", []),
        ("The Quick fox", ["the", "quick", "fox"]),
        ("queries, classes; status boss", ["query", "classe", "status", "boss"]),
        ("DiffExecutor", ["diffexecutor", "diff", "executor"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("get_user_names()", ["get_user_name", "get", "user", "name"]),
        ("__init__", ["init"]),
        ("___", []),
        ("utf8 x2", ["utf8", "utf", "x2"]),
        ("Café ＦＵＬＬ", ["cafe", "full"]),
        ("한글", ["한글"]),
        ("데이터베이스", ["데이", "이터", "터베", "베이", "이스"]),
        ("검색은 검색에서 물", ["검색", "검색", "물"]),
        ("물은 길에 회의", ["물은", "물", "길에", "길", "회의", "회"]),
        ("서울大學校", ["서울", "大學", "學校"]),
        ("数据库", ["数据", "据库"]),
        ("データ", ["デー", "ータ"]),
        ("Python으로 작성", ["python", "으로", "작성"]),
        ("1989년", ["1989", "년"]),
        ("Привет МИР", ["привет", "мир"]),
    ],
)
def test_tokens(text: str, expected: list[str]) -> None:
    """Words of any script, in the order of the text."""
    assert tokens(text) == expected


def test_forms_of_one_letter_are_one() -> None:
    """A text that was typed on a Mac is found by one that was not."""
    for text in ("데이터베이스", "Größe", "がぎぐげご"):
        assert tokens(unicodedata.normalize("NFD", text)) == tokens(text)


def test_limits() -> None:
    """Data is no word: it is cut, and has no parts."""
    assert tokens("x" * MAX_TOKEN_CHARS) == ["x" * MAX_TOKEN_CHARS]
    assert tokens("x" * (MAX_TOKEN_CHARS + 1)) == ["x" * MAX_TOKEN_CHARS]
    many = "".join(f"Part{letter}" for letter in "abcdefgh"[:MAX_PARTS])
    assert len(tokens(many)) == 1 + MAX_PARTS
    assert len(tokens(many + "One")) == 1


@settings(deadline=None)
@given(st.text(max_size=80))
def test_no_token_would_be_cut_by_an_index(text: str) -> None:
    """Tokens hold no spaces, and nothing that an engine would read as its own sign."""
    for token in tokens(text):
        assert token
        assert not any(sign.isspace() or sign in "\"'()*:^+-" for sign in token)


@settings(deadline=None)
@given(st.text(alphabet="ab C_한글은漢字é1 ", max_size=60))
def test_words_stand_where_they_say(text: str) -> None:
    """Every word lies in the text, after the one before it, and is found by the text's tokens."""
    last = 0
    for word in words(text):
        assert last <= word.start < word.end <= len(text)
        last = word.start
