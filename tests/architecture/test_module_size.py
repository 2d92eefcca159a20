"""A function fits on a screen, and every line has a room with a name.

The size of a module is an aim, reported by `tools/census.py`; nothing fails for its lines.
"""

from __future__ import annotations

import ast

from tests.architecture.tree import modules

MAX_FUNCTION_LINES = 60
HOMELESS = frozenset({"utils", "util", "helpers", "helper", "common", "misc", "base", "manager"})


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
