"""The diagrams of ARCHITECTURE.md show what the code does: states, steps, tables, processes."""

from __future__ import annotations

import ast
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import product
from pathlib import Path

from geomi.cli.program import COMMANDS, GROUPS
from geomi.frontier.state import TRANSITIONS
from geomi.model.job import STEPS, JobState
from tests.architecture.tree import PACKAGE

PAGE = Path(__file__).resolve().parents[2] / "ARCHITECTURE.md"
MERMAID = re.compile(r"^```mermaid\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EDGE = re.compile(r"^ *(\w+) --> (\w+)(?:: .*)?$", re.MULTILINE)
UNFINISHED = "unfinished"  # stands for each state that is not final
RELATION = re.compile(r"^ *(\w+) [|}][|o]--[|o][|{] (\w+) : ", re.MULTILINE)
CREATED = re.compile(r"^CREATE TABLE (\w+)", re.MULTILINE)
DROPPED = re.compile(r"^DROP TABLE (\w+)", re.MULTILINE)
RENAMED = re.compile(r"^ALTER TABLE (\w+) RENAME TO (\w+)", re.MULTILINE)
PARTICIPANT = re.compile(r"participant (\w+) as .*?<br/>(\S+\.py)$", re.MULTILINE)
CALL = re.compile(r"^ *\w+->>(\w+): (\w+)$", re.MULTILINE)


def test_the_states_of_a_job() -> None:
    """The picture has the steps of `model/job.py`, and no other."""
    unfinished = [state for state in JobState if not state.is_final]
    shown = {
        (before, after)
        for start, after in _edges("unfinished --> failed")
        for before in (unfinished if start == UNFINISHED else [start])
    }
    assert shown == {(before, after) for before in STEPS for after in STEPS[before]}


def test_the_states_of_an_entry() -> None:
    """The picture has the steps of `frontier/state.py`, and no other."""
    steps = {step for each in TRANSITIONS.values() for step in product(each.before, each.after)}
    assert set(_edges("pending --> blocked")) == steps


def test_the_tables_of_the_store() -> None:
    """Each table of a database is in a picture or in the list below, and nothing else is."""
    drawn = {
        name for each in _diagrams("erDiagram") for pair in RELATION.findall(each) for name in pair
    }
    _, _, below = PAGE.read_text("utf-8").partition("| tables that stand by themselves |")
    rows = below.partition("\n\n")[0].splitlines()[2:]
    listed = {name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[1])}
    assert drawn & listed == set()
    assert drawn | listed == _sqlite_tables() | _postgres_tables()


def test_the_calls_of_the_sequence() -> None:
    """What the picture calls is a function of the file that it names."""
    (picture,) = _diagrams("sequenceDiagram")
    files = dict(PARTICIPANT.findall(picture))
    calls = [(files[whom], name) for whom, name in CALL.findall(picture)]
    assert len(calls) >= 5
    assert [call for call in calls if call[1] not in _functions(call[0])] == []


def test_the_processes() -> None:
    """Every program of a process is shown, and every way to run is a command."""
    (picture,) = _diagrams("flowchart")
    programs = {file.name for file in (PACKAGE / "processes").glob("*.py")} - {"__init__.py"}
    assert {name for name in programs if f"processes/{name}" not in picture} == set()
    commands = re.findall(r"<b>geomi (\w+)", picture)
    assert commands
    assert [name for name in commands if name not in COMMANDS | GROUPS] == []


def _diagrams(kind: str) -> list[str]:
    found = [each for each in MERMAID.findall(PAGE.read_text("utf-8")) if kind in each]
    assert found, f"no {kind} in ARCHITECTURE.md"
    return found


def _edges(sign: str) -> Iterator[tuple[str, str]]:
    """Yield the steps of the state diagram that has this one."""
    (picture,) = (each for each in _diagrams("stateDiagram") if sign in each)
    yield from EDGE.findall(picture)


def _functions(file: str) -> set[str]:
    tree = ast.parse((PACKAGE / file).read_text("utf-8"))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {node.name for node in ast.walk(tree) if isinstance(node, kinds)}


def _migrations(database: str) -> list[str]:
    folder = PACKAGE / "adapters" / "store" / database / "migrations"
    return [file.read_text("utf-8") for file in sorted(folder.glob("*.sql"))]


def _sqlite_tables() -> set[str]:
    with closing(sqlite3.connect(":memory:")) as db:
        for step in _migrations("sqlite"):
            db.executescript(step)
        names = db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        return {name for (name,) in names if not name.startswith("sqlite_")}


def _postgres_tables() -> set[str]:
    tables: set[str] = set()
    for step in _migrations("postgres"):
        renamed = dict(RENAMED.findall(step))
        gone = {*DROPPED.findall(step), *renamed}
        tables = (tables | {*CREATED.findall(step), *renamed.values()}) - gone
    return tables
