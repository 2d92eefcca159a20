"""A module fits in a head, a function on a screen.

The aim is 60 to 250 lines a module and 25 a function; these are the hard edges. An exception needs
a line in the set, with its reason.
"""

from __future__ import annotations

import ast

from tests.architecture.tree import modules

MAX_MODULE_LINES = 300
MAX_FUNCTION_LINES = 60
LARGE_MODULES: frozenset[str] = frozenset()
LARGE_FUNCTIONS: frozenset[str] = frozenset()
HOMELESS = frozenset({"utils", "util", "helpers", "helper", "common", "misc", "base", "manager"})


def test_modules_are_small() -> None:
    """No module hides a second one."""
    sizes = {module.name: len(module.source.splitlines()) for module in modules()}
    too_large = {name: size for name, size in sizes.items() if size > MAX_MODULE_LINES}
    assert too_large.keys() == LARGE_MODULES, too_large


def test_functions_are_small() -> None:
    """No function is a chapter; its signature, often long on the command line, is not counted."""
    too_large = {
        f"{module.name}:{node.name}": size
        for module in modules()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (size := (node.end_lineno or 0) - node.body[0].lineno + 1) > MAX_FUNCTION_LINES
    }
    assert too_large.keys() == LARGE_FUNCTIONS, too_large


def test_every_line_has_a_room() -> None:
    """There is no drawer for what nobody could name."""
    parts = {(module.name, part) for module in modules() for part in module.name.split("/")}
    assert [name for name, part in parts if part.removesuffix(".py") in HOMELESS] == []
