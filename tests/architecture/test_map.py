"""The map leads somewhere: each path that it names exists, and it names each package."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from tests.architecture.tree import PACKAGE

ROOT = Path(__file__).resolve().parents[2]
MAPS = ("ARCHITECTURE.md", "AGENTS.md", "docs/how-to/extend-geomi.md")
QUOTED = re.compile(r"`([^`\n]+)`")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PATH = re.compile(r"\.?[\w-][\w.-]*(?:/[\w.-]+)+|[\w.-]+\.(?:py|md|toml|txt)")
IN_DIAGRAM = re.compile(r"[\w-]+(?:/[\w-]+)+\.py")
# What geomi writes or a person makes is not in the repository.
NOT_OURS = frozenset({"pages.jsonl", "geomi.toml", "llms.txt", ".venv/.dev"})
LEAST_TASKS = 40
# A recipe with more files than this is a design that grew a second list of the same thing.
MOST_FILES = {"A page column": 4, "A new table": 8}


@pytest.mark.parametrize("name", MAPS)
def test_every_path_that_a_map_names_exists(name: str) -> None:
    """A reader who follows a map finds the file."""
    paths = _paths(_read(name))
    assert paths
    assert sorted(path for path in paths if not _exists(path)) == []


def test_the_map_names_every_package() -> None:
    """A package that nobody can find on the map will be built a second time."""
    rows = [line for line in _section("The map").splitlines() if line.startswith("|")]
    named = {each for row in rows for each in QUOTED.findall(row.split("|")[1])}
    files = PACKAGE.rglob("__init__.py")
    packages = {file.parent.relative_to(PACKAGE).as_posix() for file in files} - {"."}
    modules = {file.name for file in PACKAGE.glob("*.py")} - {"__init__.py", "__main__.py"}
    assert sorted(named ^ (packages | modules)) == []


def test_the_map_has_the_layers_that_imports_are_checked_by() -> None:
    """The map shows the layers of `pyproject.toml`, in the same order."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    (layers,) = (each["layers"] for each in contracts["contracts"] if each["id"] == "layers")
    (_, shown), *_ = FENCE.findall(_section("The map"))
    assert shown.splitlines() == [re.sub(r"[()]", "", layer) for layer in layers]


def test_many_tasks_have_a_file_to_open_first() -> None:
    """A reader who wants to change something learns where."""
    rows = [line.split("|") for line in _section("Where do I change …?").splitlines()]
    tasks = {row[1].strip(): row[2] for row in rows if len(row) > 3 and row[2].strip(" -")}
    del tasks["to change"]
    assert len(tasks) >= LEAST_TASKS
    assert [task for task, first in tasks.items() if not _paths(first) | _names(first)] == []


@pytest.mark.parametrize(("recipe", "most"), MOST_FILES.items())
def test_recipes_stay_short(recipe: str, most: int) -> None:
    """What is added often is added in few places."""
    text = _section(recipe, of="docs/how-to/extend-geomi.md")
    steps = re.findall(r"^\d+\. ", text, re.MULTILINE)
    assert 0 < len(steps) <= most


def _paths(text: str) -> set[str]:
    """Return what a text names as paths: in backticks, and in diagrams."""
    prose = FENCE.sub("", text)
    drawn = " ".join(body for kind, body in FENCE.findall(text) if kind == "mermaid")
    found = {each for each in QUOTED.findall(prose) if PATH.fullmatch(each)}
    return (found | set(IN_DIAGRAM.findall(drawn))) - NOT_OURS


def _names(text: str) -> set[str]:
    """Return the packages that a text names by one word."""
    return {each for each in QUOTED.findall(text) if (PACKAGE / each / "__init__.py").exists()}


def _exists(path: str) -> bool:
    return (ROOT / path).exists() or (PACKAGE / path).exists()


def _section(title: str, *, of: str = "ARCHITECTURE.md") -> str:
    _, _, after = _read(of).partition(f"\n## {title}\n")
    assert after, f"{of} has no section `{title}`"
    return after.partition("\n## ")[0]


def _read(name: str) -> str:
    return (ROOT / name).read_text("utf-8")
