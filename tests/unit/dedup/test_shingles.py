"""A text as a set of shingles."""

from __future__ import annotations

import random
import re
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from geomi.dedup import shingles as room
from geomi.dedup.shingles import join, shingles, words

# Python writes the lower case of İ as two characters; it stays one here.
LATIN = st.text(st.characters(max_codepoint=0x2FF, exclude_characters="İ"), max_size=200)


def shared(left: str, right: str) -> float:
    one, other = set(shingles(left).tolist()), set(shingles(right).tolist())
    return len(one & other) / len(one | other)


def by_the_book(text: str) -> set[str]:
    """Read words as the labels of the revisions set do."""
    words = re.findall(r"\w+", text.lower())
    return {" ".join(words[at : at + 3]) for at in range(max(len(words) - 2, min(len(words), 1)))}


@given(LATIN)
@example("")
@example("one")
@example("one two")
@example("a_b, a-b; Straße: naïve café")
@example(" ".join(random.Random(1).choices(["one", "two", "three", "vier"], k=300)))
def test_there_is_one_number_for_every_shingle(text: str) -> None:
    assert len(set(shingles(text).tolist())) == len(by_the_book(text))


@given(st.text(st.characters(max_codepoint=0x7F)))
def test_ascii_is_read_as_the_rest(text: str) -> None:
    numbers = words(text)
    assert np.array_equal(numbers, words(text + " é")[:-1])


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("One, two;\n\nTHREE", "one two three"),
        ("Русский ТЕКСТ здесь", "русский текст здесь"),
        ("«a» “b” c\u00a0d", "a b c d"),
        ("데비안  설치, 안내서.", "데비안 설치 안내서"),
        ("中文，文档。", "中文 文档"),
    ],
)
def test_case_punctuation_and_layout_do_not_count(left: str, right: str) -> None:
    assert np.array_equal(shingles(left), shingles(right))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("a b c", "c b a"),
        ("a b", "b a"),
        ("a", "a a"),
        ("ab c d", "a bc d"),
        ("listen", "silent"),
        ("a" * 40, "a" * 41),
        ("x" * 20 + "1" + "y" * 20, "x" * 20 + "2" + "y" * 20),
        ("데비안", "데비언"),
        ("\U00020000\U00020001", "\U00020000\U00020002"),
    ],
)
def test_other_words_are_other_shingles(left: str, right: str) -> None:
    assert not set(shingles(left).tolist()) & set(shingles(right).tolist())


@pytest.mark.parametrize(
    "text",
    [
        "本文档介绍如何在计算机上安装操作系统以及安装之后需要进行的各项设置请仔细阅读全部内容",
        "この文書ではシステムをインストールする方法とインストール後の設定について説明します",
        "เอกสารนี้อธิบายวิธีการติดตั้งระบบปฏิบัติการบนเครื่องคอมพิวเตอร์ของคุณและการตั้งค่า",
    ],
)
def test_scripts_without_gaps_are_read_by_character(text: str) -> None:
    edited = text[:20] + "新" + text[21:]
    assert 0.7 < shared(text, edited) < 1


def test_korean_is_read_by_word() -> None:
    words = [f"낱말{number}은" for number in range(60)]
    edited = [*words[:30], "다른", *words[31:]]
    assert shingles(" ".join(words)).size == len(words) - 2
    assert shared(" ".join(words), " ".join(edited)) == pytest.approx(55 / 61)


def test_a_word_has_its_number_wherever_it_stands() -> None:
    there = shingles("one two three " * 5_000)
    assert len(set(there.tolist())) == 3


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("hello", 11903803859760800288),
        ("one two three", 5026227760121040056),
        ("데비안 설치 안내서", 18072142596425391922),
        ("安装", 734674858704162868),
    ],
)
def test_values_never_change(text: str, expected: int) -> None:
    assert shingles(text).tolist() == [expected]


def test_another_process_computes_the_same() -> None:
    code = "from geomi.dedup.shingles import shingles; print(shingles('one two 한글').tolist()[0])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(run.stdout) == shingles("one two 한글")[0]


def test_long_texts_are_cut() -> None:
    start = "a b " * (room.MAX_TEXT_UNITS // 4)
    filled = start + "c" * (room.MAX_TEXT_UNITS - len(start))
    assert np.array_equal(shingles(filled + "d"), shingles(filled))
    assert not np.array_equal(shingles(filled[:-1] + "d"), shingles(filled))
    assert shingles("\U0001f600 " * room.MAX_TEXT_UNITS).size <= room.MAX_TEXT_UNITS


@given(st.text(st.characters(codec=None, exclude_categories=())))
@example("\ud800")
@example("\udc00a")
def test_any_text_has_shingles(text: str) -> None:
    assert shingles(text).dtype == np.uint64


def test_joining_nothing_gives_nothing() -> None:
    assert join(np.empty(0, np.uint64)).size == 0
