"""A stage does no I/O, reads no clock, draws no lot, logs nothing and knows no other stage."""

from __future__ import annotations

from tests.architecture.tree import Module, dotted_uses, imported, modules

STAGES = frozenset(
    {
        "seed", "dataset", "admit", "robots", "frontier", "fetch", "extract", "private", "dedup",
        "analyse", "chunk", "search", "recrawl",
    }
)  # fmt: skip
VALUES = frozenset({"url", "text", "model", "errors"})
FORBIDDEN_IMPORTS = frozenset(
    {
        "asyncio",
        "concurrent",
        "contextvars",
        "http",
        "logging",
        "multiprocessing",
        "os",
        "secrets",
        "selectors",
        "shutil",
        "signal",
        "socket",
        "sqlite3",
        "ssl",
        "subprocess",
        "tempfile",
        "threading",
        "time",
        "uuid",
        "warnings",
    }
)
FORBIDDEN_USES = frozenset(
    {
        "datetime.date.today",
        "datetime.datetime.now",
        "datetime.datetime.today",
        "datetime.datetime.utcnow",
        "input",
        "io.FileIO",
        "io.open",
        "io.open_code",
        "open",
        "print",
    }
)
# A generator is an argument; only its type may be named.
RANDOM_TYPE = "random.Random"


def test_imports_of_stages() -> None:
    """Nothing that waits, logs, or touches the world is imported."""
    assert [
        f"{module.name} imports {name}"
        for module in _pure()
        for name in imported(module)
        if name.partition(".")[0] in FORBIDDEN_IMPORTS
    ] == []


def test_uses_in_stages() -> None:
    """No clock is read, no file opened, nothing printed."""
    assert [
        f"{module.name}:{line} uses {name}"
        for module in _pure()
        for line, name in dotted_uses(module)
        if name in FORBIDDEN_USES
    ] == []


def test_randomness_is_an_argument() -> None:
    """`random` stands only in annotations."""
    assert [
        f"{module.name}:{line} uses {name}"
        for module in _pure()
        for line, name in dotted_uses(module)
        if name.startswith("random.") and name != RANDOM_TYPE
    ] == []


def test_stages_are_strangers() -> None:
    """A stage imports values and itself, nothing else of geomi."""
    assert [
        f"{module.name} imports {name}"
        for module in modules()
        if module.room in STAGES
        for name in imported(module)
        if name.startswith("geomi.") and name.split(".")[1] not in VALUES | {module.room}
    ] == []


def _pure() -> list[Module]:
    return [module for module in modules() if module.room in STAGES | VALUES]
