"""States are written in one place: an entry's in `frontier/state.py`, and none in SQL."""

from __future__ import annotations

import ast
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest

from geomi.adapters.store.statements import migrations
from geomi.frontier.state import NEW, TRANSITIONS
from geomi.model.dataset.queue import TaskState
from geomi.model.index.document import DocumentState
from geomi.model.job import JobState
from geomi.model.verdict import State
from tests.architecture.tree import PACKAGE, Module, modules

TABLE = "frontier/state.py"
READER = "adapters/store/rows.py"  # its states come from rows
MAKERS = frozenset({"Settlement", "UrlEntry", "replace"})
FROM_VISITS = {change.value for change, row in TRANSITIONS.items() if len(row.after) > 1}
KINDS = (State, JobState, DocumentState, TaskState)
STATES = frozenset(state.value for kind in KINDS for state in kind)
NUMBERED = re.compile(r"\bstate\s*(?:=|<>|!=|IN|NOT IN)\s*\(?\s*\d")
LITERAL = re.compile(r"'(\w+)'")
UPDATE = re.compile(r"\bUPDATE entries\b(.*?)(?=\bWHERE\b|\bFROM\b)", re.DOTALL)
SET_STATE = re.compile(r"(?:\bSET|,)\s*state\s*=\s*(\S+(?: entry after)?)")
INSERT = re.compile(r"\bINSERT INTO entries\s*\(([^)]*)\)")
BEFORE = re.compile(r"\bIN \(/\* entry before (\w+) \*/\)")
AFTER = re.compile(r"/\* entry after (\w+) \*/")


def test_no_statement_spells_out_a_state() -> None:
    """A state that is renamed, or gets a sister, is then changed in one place."""
    assert [
        f"{name}: {found}"
        for name, text in _statements()
        for found in [*(STATES & set(LITERAL.findall(text))), *NUMBERED.findall(text)]
    ] == []


def test_statements_change_states_by_the_table() -> None:
    """Each names its row of the table, and is guarded by the states that the row starts from."""
    assert [f"{name}: {say}" for name, text in _statements() for say in _objections(text)] == []


@pytest.mark.parametrize(
    ("text", "objection"),
    [
        ("UPDATE entries SET due_s = 0 WHERE seq = :seq", None),
        ("SELECT state FROM entries WHERE state IN (/* entry before reopen */)", None),
        (
            "UPDATE entries SET due_s = 0, state = /* entry after reopen */\n"
            "WHERE state IN (/* entry before reopen */)",
            None,
        ),
        ("UPDATE entries SET state = ?1 WHERE state IN (/* entry before settle */)", None),
        (
            "UPDATE entries SET state = /* entry after reopen */ WHERE seq = 1",
            "`reopen` has no guard",
        ),
        (
            "UPDATE entries SET state = /* entry pending */\n"
            "WHERE state IN (/* entry before reopen */)",
            "a state that no row leads to",
        ),
        (
            "UPDATE entries SET state = ?1 WHERE state = /* entry pending */",
            "a state that no row leads to",
        ),
        ("INSERT INTO entries (url, state) VALUES (?, ?)", "an entry begins as the schema says"),
    ],
)
def test_what_is_wrong_is_found(text: str, objection: str | None) -> None:
    assert list(_objections(text)) == ([objection] if objection else [])


def test_entries_begin_as_the_table_says() -> None:
    with closing(sqlite3.connect(":memory:")) as db:
        for step in migrations("store.sqlite"):
            db.executescript(step)
        columns = {
            name: default for _, name, _, _, default, _ in db.execute("PRAGMA table_info(entries)")
        }
    assert columns["state"] == f"'{NEW}'"
    _, _, table = "\n".join(migrations("store.postgres")).partition("CREATE TABLE entries (")
    assert re.search(rf"^ +state text .*DEFAULT '{NEW}'", table.partition(");")[0], re.MULTILINE)


def test_code_takes_states_from_the_table() -> None:
    """A settlement or an entry gets its state from a function of the table, or from a row."""
    assert [
        f"{module.name}:{line}"
        for module in modules()
        if module.name != TABLE
        for line in _made_by_hand(module)
    ] == []


@pytest.mark.parametrize(
    ("source", "is_right"),
    [
        ("Settlement(state=State.FAILED)", False),
        ("Settlement(state=visit.state)", False),
        ("replace(visit, state=State.PENDING)", False),
        ("state = State.PENDING if later else before\nreplace(visit, state=state)", False),
        ("Settlement(state=settle_state(before, outcome, will_retry=False))", True),
        ("state = change_state(change, before)\nreplace(visit, state=state)", True),
        ("UrlEntry(state=NEW)", True),
        ("replace(job, state=JobState.FAILED)", True),
        ("EntryFilter(state=State.FAILED)", True),
        ("db.execute('UPDATE entries SET due_s = 0')", False),
    ],
)
def test_what_is_made_by_hand_is_found(source: str, is_right: bool) -> None:
    text = f"from geomi.frontier.state import NEW, change_state, settle_state\n{source}"
    module = Module(PACKAGE / "engine" / "example.py", text, ast.parse(text))
    assert (list(_made_by_hand(module)) == []) is is_right


def test_the_store_compares_no_text_with_a_state() -> None:
    assert [
        f"{module.name}:{node.lineno}"
        for module in modules()
        if module.package.startswith("adapters/store")
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Compare)
        for each in (node.left, *node.comparators)
        if isinstance(each, ast.Constant) and each.value in STATES
    ] == []


def _statements() -> Iterator[tuple[str, str]]:
    """Yield each statement with the name of its file, its comments on lines left out."""
    for file in sorted(PACKAGE.rglob("sql/*.sql")):
        for part in re.split(r"^-- name: ", file.read_text("utf-8"), flags=re.MULTILINE)[1:]:
            name, _, text = part.partition("\n")
            kept = [line for line in text.splitlines() if not line.startswith("--")]
            yield f"{file.relative_to(PACKAGE).as_posix()} {name}", "\n".join(kept)


def _objections(text: str) -> Iterator[str]:
    guards = set(BEFORE.findall(text))
    for columns in INSERT.findall(text):
        if re.search(r"\bstate\b", columns):
            yield "an entry begins as the schema says"
    for clause in UPDATE.findall(text):
        for value in SET_STATE.findall(clause):
            # What may lead to several states gets one from a visit, which the store has checked.
            if not value.startswith("/* entry after") and not guards & FROM_VISITS:
                yield "a state that no row leads to"
    for name in sorted(set(AFTER.findall(text)) - guards):
        yield f"`{name}` has no guard"


def _made_by_hand(module: Module) -> Iterator[int]:
    """Yield the lines that give a settlement or an entry a state which is not the table's."""
    nodes = list(ast.walk(module.tree))
    ours = {
        alias.asname or alias.name
        for node in nodes
        if isinstance(node, ast.ImportFrom) and node.module == "geomi.frontier.state"
        for alias in node.names
    }
    assigned: dict[str, list[ast.expr]] = {}
    for node in nodes:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                assigned.setdefault(_name(target), []).append(node.value)
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if UPDATE.search(f"{node.value} WHERE"):
                yield node.lineno
        elif isinstance(node, ast.Call) and (name := _name(node.func)) in MAKERS:
            for value in (each.value for each in node.keywords if each.arg == "state"):
                origins = assigned.get(_name(value), [value])
                parts = [part for origin in origins for part in ast.walk(origin)]
                is_spelt = any(_dotted(part).startswith("State.") for part in parts)
                is_ours = module.name == READER or all(_name(each) in ours for each in origins)
                if is_spelt or (name != "replace" and not is_ours):
                    yield node.lineno


def _name(node: ast.AST) -> str:
    """Return the last part of what is called or named."""
    if isinstance(node, ast.Call):
        return _name(node.func)
    return _dotted(node).rpartition(".")[2]


def _dotted(node: ast.AST) -> str:
    return ast.unparse(node) if isinstance(node, ast.Name | ast.Attribute) else ""
