"""Markdown as a row of passages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomi.analyse.page_text import (
    MAX_PASSAGES,
    PassageForm,
    TextPassage,
    cut,
    own_title,
    read_text,
)
from tests.unit.analyse.made import passages


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("# Title", TextPassage(PassageForm.HEADING, "Title", 1)),
        ("- ## [Thread](https://a.test/x)", TextPassage(PassageForm.HEADING, "Thread", 2)),
        ("#hashtag", TextPassage(PassageForm.PARAGRAPH, "#hashtag")),
        ("####### seven", TextPassage(PassageForm.PARAGRAPH, "####### seven")),
        ("- one **bold** item", TextPassage(PassageForm.ITEM, "one bold item")),
        ("12. twelfth", TextPassage(PassageForm.ITEM, "twelfth")),
        ("| a | b |", TextPassage(PassageForm.ROW, "a | b")),
        ("> quoted _words_", TextPassage(PassageForm.PARAGRAPH, "quoted words")),
        ("snake_case stays", TextPassage(PassageForm.PARAGRAPH, "snake_case stays")),
        (r"\+1-202 \[x\]", TextPassage(PassageForm.PARAGRAPH, "+1-202 [x]")),
        ("a ![alt](https://a.test/i.png) b", TextPassage(PassageForm.PARAGRAPH, "a b")),
        ("[![alt](i.png)](https://a.test/) [t](<u v>)", TextPassage(PassageForm.PARAGRAPH, "t")),
        ("[wiki](https://a.test/x_(y)) end", TextPassage(PassageForm.PARAGRAPH, "wiki end")),
        ("`code` and ~~gone~~", TextPassage(PassageForm.PARAGRAPH, "code and gone")),
        ("거미\u00a0실", TextPassage(PassageForm.PARAGRAPH, "거미 실")),
    ],
)
def test_a_line_becomes_a_passage(markdown: str, expected: TextPassage) -> None:
    assert passages(markdown) == (expected,)


def test_rules_and_frames_of_tables_say_nothing() -> None:
    assert passages("---\n\n| --- | :-: |\n\n***") == ()


def test_code_is_one_passage_whatever_it_holds() -> None:
    found = passages("````\n# no heading\n```\n- no item\n````\nafter")
    assert found == (
        TextPassage(PassageForm.CODE, "# no heading\n```\n- no item"),
        TextPassage(PassageForm.PARAGRAPH, "after"),
    )


def test_code_that_never_ends_is_kept() -> None:
    assert passages("```\nx = 1") == (TextPassage(PassageForm.CODE, "x = 1"),)


@pytest.mark.req("C-73")
def test_a_long_text_is_read_up_to_its_limit() -> None:
    assert read_text("a" * 101, 100).text == "a" * 100
    assert len(passages("x\n" * (MAX_PASSAGES + 1))) == MAX_PASSAGES


@pytest.mark.parametrize(
    ("title", "own"),
    [("Rest | Silk Works", "Rest"), ("Rest – Silk", "Rest"), ("Rest-day", "Rest-day"), ("", "")],
)
def test_a_title_without_the_name_of_its_site(title: str, own: str) -> None:
    assert own_title(title) == own


def test_a_text_is_cut_between_words() -> None:
    assert cut("one two", 7) == "one two"
    assert cut("one two three", 9) == "one two…"


@given(st.text(alphabet="#-*|`>_[]()!\\ \na1가", max_size=200))
def test_it_never_raises(markdown: str) -> None:
    for passage in passages(markdown):
        assert passage.text or passage.form is PassageForm.CODE
