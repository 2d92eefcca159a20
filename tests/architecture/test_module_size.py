"""A function fits on a screen, a folder in a glance, and every line has a room with a name.

The size of a module is an aim, reported by `python -m tools.census`; nothing fails for its lines.
A module too small to be opened for its own sake stands in the module that needs it instead.
"""

from __future__ import annotations

import ast
from collections import Counter

from tests.architecture.tree import importers, modules

MAX_FUNCTION_LINES = 60
AIMED_MODULES = 16
MAX_MODULES = 24
FRAGMENT_LINES = 60
HOMELESS = frozenset({"utils", "util", "helpers", "helper", "common", "misc", "base", "manager"})

# Packages that may show more than a folder should, up to MAX_MODULES, and why.
LARGE_PACKAGES: dict[str, str] = {
    "adapters/store/tables": "a module for each of the store's tables, written once",
    "engine/visit": "a module for each thing that a visit asks",
}
# Folders whose modules are of one kind, so that a name says what is in each.
FAMILIES: dict[str, str] = {
    "adapters/store/postgres": "what must be fast, by the names of the other database",
    "adapters/store/sqlite": "what must be fast, by the names of the other database",
    "adapters/store/tables": "tables of the store",
    "api/routes": "parts of the API",
    "api/schema": "what these parts read and write",
    "cli/collect": "commands",
    "cli/keep": "commands",
    "cli/look": "commands",
    "cli/prepare": "commands",
    "cli/read": "commands",
    "cli/serve": "commands",
    "dashboard/views": "pages of the dashboard",
}


def test_functions_are_small() -> None:
    """No function is a chapter; its signature, often long on the command line, is not counted."""
    too_large = {
        f"{module.name}:{node.name}": size
        for module in modules()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (size := (node.end_lineno or 0) - node.body[0].lineno + 1) > MAX_FUNCTION_LINES
    }
    assert too_large == {}


def test_every_line_has_a_room() -> None:
    """There is no drawer for what nobody could name."""
    parts = {(module.name, part) for module in modules() for part in module.name.split("/")}
    assert [name for name, part in parts if part.removesuffix(".py") in HOMELESS] == []


def test_packages_are_small() -> None:
    """A folder shows about a dozen names; one that shows more says why, and ends somewhere too."""
    sizes = Counter(module.package for module in modules() if not module.is_init)
    crowded = {name: size for name, size in sizes.items() if size > AIMED_MODULES}
    assert crowded.keys() == LARGE_PACKAGES.keys(), crowded
    assert {name: size for name, size in crowded.items() if size > MAX_MODULES} == {}


def test_no_module_is_a_fragment() -> None:
    """What is read in a minute and needed by one neighbour alone stands in that neighbour."""
    assert [
        f"{module.name} ({module.lines} lines) is needed by {user.name} alone"
        for module in modules()
        if module.lines < FRAGMENT_LINES
        and not module.is_init
        and module.package not in FAMILIES
        and len(importers()[module.name]) == 1
        for user in importers()[module.name]
        if f"{user.package}/".startswith(f"{module.package}/")
        or f"{module.package}/".startswith(f"{user.package}/")
    ] == []
