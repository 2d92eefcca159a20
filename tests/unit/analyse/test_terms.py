"""Terms and sentences."""

from __future__ import annotations

import pytest

from geomi.analyse.page_text import MAX_SENTENCES, frequencies, sentences_of, terms_of


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("The spider's web and the C++ library", ["spider", "web", "c++", "library"]),
        ("거미가 거미줄을 온실에서는 칩니다", ["거미", "거미줄", "온실", "칩니다"]),
        ("Das schöne Netz", ["das", "schöne", "netz"]),
        ("1 2 3 !", []),
    ],
)
def test_terms(text: str, terms: list[str]) -> None:
    found = terms_of(text)
    assert [term for term in terms if term in found] == terms


def test_a_plural_is_counted_with_its_singular() -> None:
    assert frequencies(["web", "webs", "webs", "class"]) == {"web": 3, "class": 1}


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("One sentence stands here. Another one follows it! And is this a third one?", 3),
        ("Dr. Seo met Mr. Okafor in the greenhouse. They counted the threads together.", 2),
        ("It weighs 3.5 grams per spool, i.e. next to nothing at all.", 1),
        ("거미는 줄을 칩니다. 우리는 그 줄을 모읍니다.", 2),
        ("", 0),
    ],
)
def test_sentences(text: str, count: int) -> None:
    assert len(sentences_of(text)) == count


def test_only_so_many_sentences_are_read() -> None:
    assert len(sentences_of("This is one sentence. " * (MAX_SENTENCES + 1))) == MAX_SENTENCES
