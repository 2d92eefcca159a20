"""Count which of the catalogue's requirements are proven, and refuse answers that contradict.

`docs/reference/requirements.md` has a line for each ID and, where no test proves it, an answer.
Tests carry `@pytest.mark.req("ID", …)`; a run with `--requirements FILE` records which passed. An
ID is proven when a test that carries it passed and none that carries it failed.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CATALOGUE = ROOT / "docs" / "reference" / "requirements.md"
TESTS = ROOT / "tests"
RESULTS = (ROOT / ".requirements.json", ROOT / ".requirements.partial.json")
MAX_IDS_PER_TEST = 5
TOTAL = 505

LINE = re.compile(
    r"^- \*\*(?P<id>[A-Z0-9]+-\d{2})\*\* (?P<statement>[^·]+?)(?: · (?P<answer>.+))?$"
)
# What the catalogue decided between two rules, or where it was silent: a test may name it, too.
DECISION = re.compile(r"[CG]-\d{2}")
ANSWER = re.compile(r"^(statement|superseded by C-\d{2}|not built: \S.*)$")


class Answer(StrEnum):
    """What can be said about a requirement."""

    PROVEN = "proven"
    STATEMENT = "statement"
    SUPERSEDED = "superseded"
    NOT_BUILT = "not built"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class Requirement:
    """One line of the catalogue; `answer` is empty where a proof is expected."""

    id: str
    statement: str
    answer: str


@dataclass(frozen=True, slots=True)
class Mark:
    """A test and the IDs it carries."""

    test: str
    ids: tuple[str, ...]


def main(argv: list[str] | None = None) -> int:
    """Print the count; return 1 where answers contradict."""
    options = _options(argv)
    requirements, problems = read_catalogue(CATALOGUE.read_text("utf-8"))
    marks = list(read_marks(TESTS))
    proven = read_proofs(options.results)
    if options.prune:
        CATALOGUE.write_text(prune(CATALOGUE.read_text("utf-8"), proven), "utf-8")
        requirements, problems = read_catalogue(CATALOGUE.read_text("utf-8"))
    problems += check(requirements, marks, proven)
    answers = {each.id: judge(each, proven) for each in requirements}
    if options.missing:
        print("\n".join(name for name, answer in answers.items() if answer is Answer.MISSING))
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    sys.stderr.flush()
    print("\n".join(table(answers)), flush=True)
    return 1 if problems else 0


def read_catalogue(text: str) -> tuple[list[Requirement], list[str]]:
    """Return the requirements and what is wrong with their lines."""
    found: list[Requirement] = []
    problems: list[str] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.startswith("- **"):
            continue
        match = LINE.match(line)
        if match is None:
            problems.append(
                f"{CATALOGUE.name}:{number}: not of the form `- **ID** statement · answer`"
            )
            continue
        answer = match["answer"] or ""
        if answer and not ANSWER.match(answer):
            problems.append(f"{CATALOGUE.name}:{number}: unknown answer `{answer}`")
        found.append(Requirement(match["id"], match["statement"], answer))
    twice = [name for name, count in Counter(each.id for each in found).items() if count > 1]
    problems += [f"{name} stands in {CATALOGUE.name} more than once" for name in twice]
    if len(found) != TOTAL:
        problems.append(
            f"{CATALOGUE.name} has {len(found)} requirements; the catalogue has {TOTAL}"
        )
    return found, problems


def read_marks(tests: Path) -> Iterator[Mark]:
    """Find every test with `@pytest.mark.req`, on itself, its class or one of its parameters."""
    for path in sorted(tests.rglob("test_*.py")):
        tree = ast.parse(path.read_text("utf-8"), str(path))
        yield from _marks_in(tree, path.relative_to(ROOT).as_posix(), _module_ids(tree))


def read_proofs(results: Path | None) -> Mapping[str, list[str]]:
    """Return the tests that prove each ID in the last run; nothing before the first run."""
    candidates = (results,) if results else RESULTS
    path = next((each for each in candidates if each.exists()), None)
    if path is None:
        print("No run is recorded yet; `make requirements` runs the tests first.", file=sys.stderr)
        return {}
    record: dict[str, dict[str, list[str]]] = json.loads(path.read_text("utf-8"))
    return {name: tests for name, tests in record["passed"].items() if name not in record["failed"]}


def check(
    requirements: list[Requirement], marks: list[Mark], proven: Mapping[str, list[str]]
) -> list[str]:
    """Name unknown IDs, tests that claim too much, and IDs with two answers."""
    known = {each.id for each in requirements}
    problems = [
        f"{mark.test} carries {len(mark.ids)} IDs; at most {MAX_IDS_PER_TEST} are credible"
        for mark in marks
        if len(mark.ids) > MAX_IDS_PER_TEST
    ]
    problems += [
        f"{mark.test} carries {name}, which the catalogue does not have"
        for mark in marks
        for name in mark.ids
        if not (name in known or DECISION.fullmatch(name))
    ]
    problems += [
        f"{tests[0]} proves {name}, which is unknown"
        for name, tests in proven.items()
        if not (name in known or DECISION.fullmatch(name))
    ]
    problems += [
        f"{each.id} is answered `{each.answer}` but proven by {proven[each.id][0]}"
        for each in requirements
        if each.answer and each.id in proven
    ]
    return problems


def judge(requirement: Requirement, proven: Mapping[str, list[str]]) -> Answer:
    """Return the one answer that a requirement has."""
    if requirement.id in proven:
        return Answer.PROVEN
    for answer in (Answer.STATEMENT, Answer.SUPERSEDED, Answer.NOT_BUILT):
        if requirement.answer.startswith(answer):
            return answer
    return Answer.MISSING


def prune(text: str, proven: Mapping[str, list[str]]) -> str:
    """Take out written answers that a proof has overtaken."""
    lines = []
    for line in text.splitlines():
        match = LINE.match(line)
        if match and match["answer"] and match["id"] in proven:
            line = f"- **{match['id']}** {match['statement']}"
        lines.append(line)
    return "\n".join(lines) + "\n"


def table(answers: Mapping[str, Answer]) -> Iterator[str]:
    """Yield a row for each prefix and the total as the last line."""
    yield f"{'':8}" + "".join(f"{answer:>12}" for answer in Answer)
    prefixes = dict.fromkeys(name.rpartition("-")[0] for name in answers)
    for prefix in prefixes:
        rows = Counter(each for name, each in answers.items() if name.rpartition("-")[0] == prefix)
        yield f"{prefix:8}" + "".join(f"{rows[answer] or '':>12}" for answer in Answer)
    total = Counter(answers.values())
    yield ""
    yield (
        f"proven {total[Answer.PROVEN]}/{TOTAL}, statements {total[Answer.STATEMENT]}, "
        f"superseded {total[Answer.SUPERSEDED]}, not built {total[Answer.NOT_BUILT]}, "
        f"missing {total[Answer.MISSING]}"
    )


def _marks_in(node: ast.AST, where: str, inherited: tuple[str, ...]) -> Iterator[Mark]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            yield from _marks_in(child, f"{where}::{child.name}", inherited + _ids(child))
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            ids = tuple(dict.fromkeys(inherited + _ids(child)))
            if ids:
                yield Mark(f"{where}::{child.name}", ids)


def _module_ids(tree: ast.Module) -> tuple[str, ...]:
    return tuple(
        name
        for node in tree.body
        if isinstance(node, ast.Assign)
        and any(isinstance(each, ast.Name) and each.id == "pytestmark" for each in node.targets)
        for name in _ids_in(node.value)
    )


def _ids(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[str, ...]:
    return tuple(name for each in node.decorator_list for name in _ids_in(each))


def _ids_in(expression: ast.expr) -> tuple[str, ...]:
    return tuple(
        argument.value
        for call in ast.walk(expression)
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr == "req"
        for argument in call.args
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
    )


def _options(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=Path, help="the record of a run (default: the newest)")
    parser.add_argument(
        "--prune", action="store_true", help="remove written answers of IDs that tests now prove"
    )
    parser.add_argument(
        "--missing", action="store_true", help="list IDs with no answer and no proof"
    )
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())
