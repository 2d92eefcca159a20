"""How many tokens a text has."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geomi.chunk.tokens import GEOMI_1, count_tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        (" ", 0),
        ("word", 1),
        ("two words", 2),
        ("internationally", 2),
        ("HTTPServer", 3),
        ("1234", 2),
        ("a_b", 3),
        ("()", 1),
        ("x = 1\n\n    y = 2", 7),
        ("한글", 3),
        ("데이터베이스", 10),
        ("漢字かな", 4),
        ("Привет", 3),
        ("😀", 2),
    ],
)
def test_count(text: str, tokens: int) -> None:
    """Each script costs about what it costs a language model."""
    assert count_tokens(text) == tokens


@settings(deadline=None)
@given(st.lists(st.text(alphabet="aB1 _(é한글漢😀\n", min_size=1, max_size=12), max_size=6))
def test_parts_have_no_fewer_tokens_than_the_whole(words: list[str]) -> None:
    """What is planned by the sizes of parts fits when it is put together."""
    assert count_tokens("\n".join(words)) <= sum(count_tokens(word) + 1 for word in words)


def test_the_tokenizer_has_a_name() -> None:
    """Whoever reads a chunk's size learns what counted it."""
    assert GEOMI_1.name == "geomi-1"
