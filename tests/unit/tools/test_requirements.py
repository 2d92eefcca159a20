"""The count of requirements cannot be flattered."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tools.requirements import (
    CATALOGUE,
    TOTAL,
    Answer,
    Mark,
    Requirement,
    check,
    judge,
    prune,
    read_catalogue,
    read_marks,
    read_proofs,
    table,
)

PROOF = {"URL-01": ["tests/unit/url/test_parse.py::test_empty"]}


def test_the_catalogue_is_complete_and_well_formed() -> None:
    """Every ID has its line, and every written answer is one that we know."""
    requirements, problems = read_catalogue(CATALOGUE.read_text("utf-8"))
    assert problems == []
    assert len(requirements) == TOTAL


@pytest.mark.parametrize(
    ("answer", "proven", "expected"),
    [
        ("", PROOF, Answer.PROVEN),
        ("", {}, Answer.MISSING),
        ("statement", {}, Answer.STATEMENT),
        ("superseded by C-15", {}, Answer.SUPERSEDED),
        ("not built: needs a browser", {}, Answer.NOT_BUILT),
    ],
)
def test_judge(answer: str, proven: dict[str, list[str]], expected: Answer) -> None:
    """Each requirement has exactly one of the answers."""
    assert judge(Requirement("URL-01", "An empty link", answer), proven) is expected


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("- **URL-01** An empty link · perhaps", "unknown answer `perhaps`"),
        ("- **URL-01** An empty link · not built:", "unknown answer `not built:`"),
        ("- **URL-1** An empty link", "not of the form"),
        ("- **URL-01** A\n- **URL-01** B", "more than once"),
    ],
)
def test_bad_lines_are_named(line: str, problem: str) -> None:
    """A slip in the file is an error, not a silent gap."""
    _, problems = read_catalogue(line)
    assert any(problem in each for each in problems)


def test_contradictions_are_named() -> None:
    """Two answers, unknown IDs and tests that claim too much are errors."""
    requirements = [Requirement("URL-01", "An empty link", "not built: later")]
    marks = [Mark("test_a", ("URL-99",)), Mark("test_b", ("URL-01",) * 6)]
    problems = check(requirements, marks, PROOF)
    assert len(problems) == 3
    assert check(requirements, [], {}) == []


def test_a_test_may_name_a_decision_of_the_catalogue() -> None:
    """`C-41` chose between two rules, `G-23` filled a gap; neither is counted."""
    marks = [Mark("test_a", ("C-41", "G-23"))]
    assert check([], marks, {"C-41": ["test_a"], "G-23": ["test_a"]}) == []


def test_prune_keeps_everything_else() -> None:
    """Only an overtaken answer goes; the lines around it stay as they are."""
    text = (
        "# Title\n- **URL-01** An empty link · not built: later\n- **URL-02** Other · statement\n"
    )
    assert prune(text, PROOF) == (
        "# Title\n- **URL-01** An empty link\n- **URL-02** Other · statement\n"
    )


def test_an_id_that_also_failed_is_not_proven(tmp_path: Path) -> None:
    """One passing case does not outweigh one failing case."""
    results = tmp_path / "results.json"
    results.write_text(
        '{"passed": {"URL-01": ["a"], "URL-02": ["b"]}, "failed": {"URL-02": ["c"]}}'
    )
    assert read_proofs(results) == {"URL-01": ["a"]}


def test_marks_are_found_wherever_they_stand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the module, on a class, on a function and on one parameter."""
    source = """
pytestmark = pytest.mark.req("A-01")
@pytest.mark.req("A-02")
class TestIt:
    @pytest.mark.parametrize("x", [pytest.param(1, marks=pytest.mark.req("A-03", "A-04"))])
    def test_one(self, x): ...
"""
    ast.parse(source)
    (tmp_path / "test_it.py").write_text(source)
    monkeypatch.setattr("tools.requirements.ROOT", tmp_path)
    assert list(read_marks(tmp_path)) == [
        Mark("test_it.py::TestIt::test_one", ("A-01", "A-02", "A-03", "A-04"))
    ]


def test_the_last_line() -> None:
    """The sum is the last line, in a form that a script can read."""
    answers = {"URL-01": Answer.PROVEN, "URL-02": Answer.MISSING, "C7-01": Answer.STATEMENT}
    last = list(table(answers))[-1]
    assert last == "proven 1/505, statements 1, superseded 0, not built 0, missing 1"
