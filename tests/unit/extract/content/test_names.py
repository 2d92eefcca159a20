"""The words that name an element."""

from __future__ import annotations

import pytest

from geomi.extract.content.blocks import MAX_WORDS, weigh_words, words_of


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ("", ()),
        ("postBody post-body post_body", ("post", "body")),
        ("HTML5Video col-md-12 x", ("html", "video", "col", "md", "x")),
        ("entry entry", ("entry",)),
        ("é entry", ("entry",)),
        (
            " ".join(f"w{chr(97 + n)}" for n in range(25)),
            tuple(f"w{chr(97 + n)}" for n in range(20)),
        ),
    ],
)
def test_names_are_split_at_capitals_digits_and_signs(names: str, words: tuple[str, ...]) -> None:
    assert words_of(names) == words
    assert len(words) <= MAX_WORDS


def test_words_add_up() -> None:
    assert weigh_words("postBody x-menu", {"post": 1.0, "body": 0.5, "menu": -2.0}) == -0.5
    assert weigh_words("", {"post": 1.0}) == 0
