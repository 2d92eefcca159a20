"""A cited decision, requirement or class can be looked up, and says something there.

`C-41` is a heading of docs/reference/decisions.md, `ROB-23` is a line of
docs/reference/requirements.md, `ports.store.Store` is a class of a module.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tests.architecture.tree import PACKAGE, modules

ROOT = PACKAGE.parents[1]
REFERENCE = ROOT / "docs" / "reference"
CITING = ("src", "docs", "tests", "tools", "bench", "deploy")
SUFFIXES = frozenset({".md", ".py", ".sh", ".sql", ".toml", ".yaml"})
CITED = re.compile(r"(?<![\w.-])[A-Z][A-Z0-9]*-\d{2}(?![\w-])")
NO_CITATIONS = frozenset({"UTF-16"})
# The test of the tool that counts requirements makes some up.
MADE_UP = "tests/unit/tools/test_requirements.py"

DECISION = re.compile(r"^### ([CG]-\d{2})\n(.*?)(?=^#|\Z)", re.MULTILINE | re.DOTALL)
REQUIREMENT = re.compile(r"^- \*\*([A-Z0-9]+-\d{2})\*\* \S", re.MULTILINE)
MAX_DECISION_LINES = 3
NAMED_CLASS = re.compile(r"`((?:[a-z_]\w*\.)*)(\w+)\.([A-Z]\w*[a-z]\w*)`")
OF_OTHERS = frozenset({"ada_url", "geomi", "layer"})  # `geomi.Page` is what the package exports


def test_every_citation_resolves() -> None:
    """A reader finds what a comment, a test or a page leans on."""
    known = {name for name, _ in _decisions()} | _requirements() | NO_CITATIONS
    assert [f"{place} cites {name}" for place, name in _citations() if name not in known] == []


def test_every_decision_is_told_once_and_briefly() -> None:
    """A heading without a line under it, or with a chapter, would explain nothing."""
    decisions = _decisions()
    assert len({name for name, _ in decisions}) == len(decisions)
    lengths = {name: len(text.strip().splitlines()) for name, text in decisions}
    assert {
        name: lines for name, lines in lengths.items() if not 1 <= lines <= MAX_DECISION_LINES
    } == {}


def test_every_decision_is_cited() -> None:
    """The page says that it leaves out what nothing in geomi leans on."""
    cited = {name for place, name in _citations() if "decisions.md" not in place}
    assert [name for name, _ in _decisions() if name not in cited] == []


def test_every_class_that_is_named_with_its_module_exists() -> None:
    """A class that moves takes along what other files say of it."""
    defined = {
        f"{module.name.removesuffix('.py').replace('/', '.')}.{node.name}"
        for module in modules()
        for node in module.tree.body
        if isinstance(node, ast.ClassDef)
    }
    assert [
        f"{place} names {prefix}{module}.{name}"
        for place, line in _lines()
        for prefix, module, name in NAMED_CLASS.findall(line)
        if f"{prefix}{module}.{name}" not in defined and module not in OF_OTHERS
    ] == []


def _decisions() -> list[tuple[str, str]]:
    return DECISION.findall((REFERENCE / "decisions.md").read_text("utf-8"))


def _requirements() -> set[str]:
    return set(REQUIREMENT.findall((REFERENCE / "requirements.md").read_text("utf-8")))


def _citations() -> Iterator[tuple[str, str]]:
    for place, line in _lines():
        yield from ((place, name) for name in CITED.findall(line))


def _lines() -> Iterator[tuple[str, str]]:
    for file in sorted(file for folder in CITING for file in (ROOT / folder).rglob("*")):
        place = file.relative_to(ROOT).as_posix()
        if file.suffix in SUFFIXES and place != MADE_UP:
            for number, line in enumerate(file.read_text("utf-8").splitlines(), start=1):
                yield f"{place}:{number}", line
