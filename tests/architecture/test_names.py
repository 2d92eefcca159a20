"""A public class has a name of its own, so that a name leads to one place."""

from __future__ import annotations

import ast
from collections import defaultdict

from tests.architecture.tree import modules


def test_public_class_names_are_unique() -> None:
    """Whoever meets a name in a traceback, an annotation or a document finds one class."""
    places = defaultdict(list)
    for module in modules():
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(module.name)
    assert {name: where for name, where in places.items() if len(where) > 1} == {}
