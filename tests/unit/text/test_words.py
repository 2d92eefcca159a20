"""How many words a text has."""

from __future__ import annotations

import pytest

from geomi.text.language import count_words


@pytest.mark.parametrize(
    ("text", "language", "words"),
    [
        ("", "", 0),
        ("three  plain\nwords", "en", 3),
        ("세 개의 단어", "ko", 3),
        ("使用 Python 编写程序代码", "zh", 6),
        ("使用", "", 1),
    ],
)
def test_words_are_counted(text: str, language: str, words: int) -> None:
    assert count_words(text, language) == words
