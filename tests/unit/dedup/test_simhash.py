"""A 64-bit simhash of a text."""

from __future__ import annotations

import random
import subprocess
import sys
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from geomi.dedup import sketch as room
from geomi.dedup.shingles import words

WORDS = [f"word{n}" for n in range(500)]


def prose(seed: int, words: int = 400) -> list[str]:
    return random.Random(seed).choices(WORDS, k=words)


def spread(value: int) -> int:
    value %= 2**64
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    value = (value ^ value >> 27) * 0x94D049BB133111EB % 2**64
    return value ^ value >> 31


def simhash(text: str) -> int:
    return room.simhash(words(text))


def by_the_book(text: str) -> int:
    """Compute the same value pair by pair and bit by bit."""
    numbers = words(text).tolist()
    features = [one + other * 0x27D4EB2F165667C5 for one, other in pairwise(numbers)] or numbers
    votes = Counter[int]()
    for value in map(spread, features):
        votes.update(bit for bit in range(64) if value >> bit & 1)
    return sum(1 << bit for bit, count in votes.items() if 2 * count > len(features))


@given(st.text())
@example("")
@example(" ".join(prose(3, 600)))
@example("a" * 8 + " " + "b" * 9 + " " + "c" * 40)
def test_it_is_the_simhash_of_the_pairs(text: str) -> None:
    assert simhash(text) == by_the_book(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        (" .,-\n", 0),
        ("hello", 0x64C377A7D38670B5),
        ("데비안 설치 안내서", 0x84383208E0C02222),
    ],
)
def test_values_never_change(text: str, expected: int) -> None:
    assert simhash(text) == expected


def test_another_process_computes_the_same() -> None:
    code = (
        "from geomi.dedup.shingles import words; from geomi.dedup.sketch import simhash; "
        "print(simhash(words('one two three 한글')))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(run.stdout) == simhash("one two three 한글")


def distance(left: int, right: int) -> int:
    return (left ^ right).bit_count()


def test_a_small_edit_changes_few_bits_and_another_text_many() -> None:
    words = prose(1)
    edited = " ".join([*words[:100], "new", *words[101:]])
    assert distance(simhash(" ".join(words)), simhash(edited)) <= 3
    others = [" ".join(f"{word}x{seed}" for word in prose(seed)) for seed in range(2, 12)]
    assert min(distance(simhash(" ".join(words)), simhash(other)) for other in others) > 12


def test_punctuation_and_layout_do_not_count() -> None:
    assert simhash("one, two;\n\nthree") == simhash("one two three")


def test_words_that_differ_only_at_an_end_differ() -> None:
    words = [
        "a",
        "b",
        "a" * 8,
        "a" * 9,
        "a" * 10,
        "b" + "a" * 9,
        "a" * 9 + "b",
        "ab" * 20,
        "ba" * 20,
    ]
    assert len({simhash(word) for word in words}) == len(words)
