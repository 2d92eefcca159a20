"""Breaks fit the code that they break, and the tool that applies them cannot be flattered."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.mutate import (
    BREAKS,
    ROOT,
    Break,
    Finding,
    carried,
    copied_repository,
    draw,
    judge,
    problems,
    read_breaks,
)

LENGTH = "tests/unit/admit/test_trap.py::test_length"


def test_every_break_fits_the_code() -> None:
    """Code that moves takes its breaks along."""
    assert list(problems(read_breaks(BREAKS), ROOT)) == []


def test_every_break_is_of_an_id_that_a_test_carries() -> None:
    """A break of an ID without a test would never be drawn."""
    assert read_breaks(BREAKS).keys() - carried().keys() == set()


@pytest.mark.parametrize(
    ("broken", "problem"),
    [
        (Break("URL-19", "", "no/such.py", "a", "b"), "no file"),
        (Break("URL-19", "", "admit/trap.py", "there is no such text", "b"), "0 times"),
        (Break("URL-19", "", "admit/trap.py", "return None", "b"), "times"),
        (Break("URL-19", "", "admit/trap.py", "def judge_length", "def judge_length"), "the same"),
    ],
)
def test_a_break_that_does_not_fit_is_named(broken: Break, problem: str) -> None:
    (found,) = problems({"URL-19": (broken,)}, ROOT)
    assert found.startswith("URL-19") and problem in found


def test_the_commit_decides_what_is_drawn() -> None:
    names = [f"name {number}" for number in range(100)]
    drawn = draw(names, 60, "a commit")
    assert drawn == draw(names, 60, "a commit") != draw(names, 60, "the next commit")
    assert len(set(drawn)) == 60
    assert draw(names[:3], 60, "a commit") == names[:3]


@pytest.fixture(scope="module")
def copy() -> Iterator[Path]:
    with copied_repository() as copy:
        yield copy


@pytest.mark.slow
def test_a_copy_has_every_program_that_tests_start(copy: Path) -> None:
    """A test that lacks its server is skipped, and could notice no break."""
    here = {path.name for path in Path(sys.prefix, "bin").iterdir()}
    assert here <= {path.name for path in Path(copy, ".venv", "bin").iterdir()}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("new", "finding"),
    [
        ("if length <= max_chars * 1000:", Finding.KILLED),
        ("if length <= max_chars + 0:", Finding.SURVIVED),
        ("if length <= max_chars", Finding.UNUSABLE),
    ],
)
def test_a_break_is_judged_by_its_tests(copy: Path, new: str, finding: Finding) -> None:
    """A test fails, no test fails, or the broken file cannot even be imported."""
    broken = Break("URL-19", "", "admit/trap.py", "if length <= max_chars:", new)
    assert judge(copy, [LENGTH], [broken]) is finding
    assert "<= max_chars:" in (copy / "src/geomi/admit/trap.py").read_text("utf-8")


def test_an_id_without_a_break_is_not_counted_as_killed(tmp_path: Path) -> None:
    assert judge(tmp_path, [LENGTH], []) is Finding.UNWRITTEN
