"""What is said stays on its line, whatever a site wrote."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomi.cli.console import note, one_line, print_error, print_json, say, say_check, say_pairs
from geomi.errors import GeomiError
from geomi.model.verdict import State


@given(st.text())
def test_one_line_is_one_printable_line(text: str) -> None:
    shown = one_line(text)
    assert shown.isprintable()
    assert len(shown.splitlines()) <= 1


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("거미 ✓", "거미 ✓"),
        ("a\nerror: b", "a\\nerror: b"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("left\u202eright", "left\\u202eright"),
    ],
)
def test_what_moves_a_cursor_is_shown_as_its_number(text: str, shown: str) -> None:
    assert one_line(text) == shown


def test_errors_and_notes_go_to_stderr_and_answers_to_stdout(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_error(GeomiError("it is so", hint="do this"))
    note("by the way")
    say("an answer [bold]as it is[/bold]")
    say_check("good", is_good=True)
    say_check("bad", is_good=False)
    say_pairs({"a": "1", "long name": "2"})
    shown = capsys.readouterr()
    assert shown.err == "error: it is so\nhint: do this\nby the way\n"
    assert shown.out.splitlines() == [
        "an answer [bold]as it is[/bold]",
        "✓ good",
        "✗ bad",
        "a          1",
        "long name  2",
    ]


def test_a_long_answer_is_not_broken_into_lines(capsys: pytest.CaptureFixture[str]) -> None:
    say("word " * 100)
    assert capsys.readouterr().out.count("\n") == 1


def test_data_is_one_line_of_json(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({State.COMPLETED: 1, "text": "a\nb"})
    shown = capsys.readouterr().out
    assert shown.count("\n") == 1
    assert json.loads(shown) == {"completed": 1, "text": "a\nb"}
