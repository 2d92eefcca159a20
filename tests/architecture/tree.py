"""The source tree as the architecture tests see it: modules, their imports and their calls."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "geomi"


@dataclass(frozen=True, slots=True)
class Module:
    """One file; `room` is its first folder, or its own name at the top of the package."""

    path: Path
    source: str
    tree: ast.Module

    @property
    def name(self) -> str:
        """Return its path inside the package, for messages and lists of exceptions."""
        return self.path.relative_to(PACKAGE).as_posix()

    @property
    def room(self) -> str:
        """Return the room that the module belongs to."""
        return self.name.partition("/")[0].removesuffix(".py")


@cache
def modules() -> tuple[Module, ...]:
    """Parse every module of the package."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        source = path.read_text("utf-8")
        found.append(Module(path, source, ast.parse(source, str(path))))
    return tuple(found)


def imported(module: Module) -> Iterator[str]:
    """Yield every name a module imports at run time, in full: `asyncio`, `datetime.datetime`."""
    for node in _running(module.tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def dotted_uses(module: Module) -> Iterator[tuple[int, str]]:
    """Yield (line, name) of every dotted name that is used, aliases of imports written out."""
    aliases = _aliases(module)
    for node in _running(module.tree):
        if isinstance(node, ast.Attribute | ast.Name) and (name := _dotted(node)):
            head, dot, rest = name.partition(".")
            yield node.lineno, aliases.get(head, head) + dot + rest


def _running(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and _dotted(child.test) in {
            "TYPE_CHECKING",
            "typing.TYPE_CHECKING",
        }:
            continue
        yield child
        yield from _running(child)


def _aliases(module: Module) -> dict[str, str]:
    found = {}
    for node in _running(module.tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                found[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                found[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return found


def _dotted(node: ast.AST) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (head := _dotted(node.value)):
        return f"{head}.{node.attr}"
    return ""
