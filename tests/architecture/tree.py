"""The source tree as the architecture tests see it: modules, their imports and their calls."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
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

    @property
    def package(self) -> str:
        """Return the folder that the module lies in, as a path inside the package."""
        return self.path.parent.relative_to(PACKAGE).as_posix()

    @property
    def is_init(self) -> bool:
        """Tell whether it is the `__init__.py` of its folder."""
        return self.path.stem == "__init__"

    @property
    def lines(self) -> int:
        """Count its lines, comments and blank ones too."""
        return len(self.source.splitlines())


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
    return _imports(_running(module.tree))


@cache
def importers() -> dict[str, frozenset[Module]]:
    """Return who imports each module, be it for its annotations alone; keys are `Module.name`."""
    names = {_dotted_name(module): module for module in modules()}
    found: dict[str, set[Module]] = {module.name: set() for module in modules()}
    for module in modules():
        for name in _imports(ast.walk(module.tree)):
            target = names.get(name, module)
            if target is not module:
                found[target.name].add(module)
    return {name: frozenset(each) for name, each in found.items()}


def dotted_uses(module: Module) -> Iterator[tuple[int, str]]:
    """Yield (line, name) of every dotted name that is used, aliases of imports written out."""
    aliases = _aliases(module)
    for node in _running(module.tree):
        if isinstance(node, ast.Attribute | ast.Name) and (name := _dotted(node)):
            head, dot, rest = name.partition(".")
            yield node.lineno, aliases.get(head, head) + dot + rest


def _dotted_name(module: Module) -> str:
    parts = ("geomi", *module.path.relative_to(PACKAGE).with_suffix("").parts)
    return ".".join(parts).removesuffix(".__init__")


def _imports(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


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
