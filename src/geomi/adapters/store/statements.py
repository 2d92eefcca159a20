"""The SQL of a store: files of named statements.

A statement begins with `-- name: what` and a line that says what it does; its values are named,
as `:value`. `sql/NAME.sql` holds what a table asks of both databases. Where PostgreSQL needs
another text, `sql/NAME.postgres.sql` has a statement of the same name. Each database has a folder
`sql` of its own for the statements that are written apart for their speed.

No statement spells out a state. It names the state in a comment, which is filled when the file is
loaded: `/* entry pending */`, `/* job begun */`. A statement that changes the state of an entry
names its row of `frontier.state.TRANSITIONS`: it sets `state = /* entry after reopen */` where
`state IN (/* entry before reopen */)`. Constants are filled, not bound: a planner uses a partial
index only where it sees the constant of the index.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from importlib import resources
from types import MappingProxyType
from typing import Any

from geomi.adapters.store.mapping import RowMapper
from geomi.adapters.store.session import Statement
from geomi.frontier.state import SETTLED, TRANSITIONS
from geomi.model.dataset.queue import TaskState
from geomi.model.index.document import DocumentState
from geomi.model.job import BEGUN, JobState
from geomi.model.verdict import State

_KINDS: Mapping[str, type[StrEnum]] = {
    "entry": State,
    "job": JobState,
    "document": DocumentState,
    "task": TaskState,
}
_STATE = re.compile(rf"/\* ((?:{'|'.join(_KINDS)}) [a-z ]+) \*/")
_NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)
_VALUE = re.compile(r"(?<!:):([a-z_]\w*)")  # two colons are a cast
_PERCENT = re.compile(r"%(?!\(\w+\)b)")  # but not that of an array that a mapper has put in


def table_statements(name: str, mapper: RowMapper[Any] | None = None) -> Mapping[str, Statement]:
    """Return the statements of a table by their names.

    Args:
        mapper: the columns of the table's rows, for statements that ask for them.
    """
    texts = statements("store", name, mapper)
    folder = resources.files("geomi.adapters.store").joinpath("sql")
    has_twins = folder.joinpath(f"{name}.postgres.sql").is_file()
    own = statements("store", f"{name}.postgres", mapper) if has_twins else {}
    if strangers := own.keys() - texts.keys():
        raise ValueError(f"`{name}.postgres.sql` has no twin of {sorted(strangers)}")
    return MappingProxyType(
        {each: Statement(text, for_postgres(own.get(each, text))) for each, text in texts.items()}
    )


def statements(package: str, name: str, mapper: RowMapper[Any] | None = None) -> Mapping[str, str]:
    """Return the statements of one file of one database by their names."""
    folder = resources.files(f"geomi.adapters.{package}").joinpath("sql")
    text = folder.joinpath(f"{name}.sql").read_text("utf-8")
    return MappingProxyType(_split(_with_states(mapper.fill(text) if mapper else text)))


def for_postgres(text: str) -> str:
    """Write the values of a statement as PostgreSQL's driver names them."""
    return _VALUE.sub(r"%(\1)s", _PERCENT.sub("%%", text))


def migrations(package: str) -> list[str]:
    """Return a store's schema, step by step; the first four characters number a file, from 0001."""
    folder = resources.files(f"geomi.adapters.{package}").joinpath("migrations")
    files = sorted((f for f in folder.iterdir() if f.name.endswith(".sql")), key=lambda f: f.name)
    return [file.read_text("utf-8") for file in files]


def _states() -> Iterator[tuple[str, Sequence[StrEnum]]]:
    """Yield what may stand in such a comment, and the states or outcomes that it means."""
    for kind, states in _KINDS.items():
        yield from ((f"{kind} {state}", (state,)) for state in states)
    yield "job begun", BEGUN
    yield "job over", [state for state in JobState if state.is_final]
    for change, transition in TRANSITIONS.items():
        yield f"entry before {change}", transition.before
        if len(transition.after) == 1:  # else the visit says which
            yield f"entry after {change}", transition.after
    for state in SETTLED.values():
        yield f"entry outcome {state}", [one for one in SETTLED if SETTLED[one] is state]


_LITERALS = {name: ", ".join(f"'{state}'" for state in states) for name, states in _states()}


def _with_states(text: str) -> str:
    """Put states in the place of the comments that name them."""
    return _STATE.sub(lambda found: _LITERALS[found[1]], text)


def _split(text: str) -> dict[str, str]:
    _, *parts = _NAME.split(text)
    texts = (part.strip().rstrip(";") for part in parts[1::2])
    return dict(zip(parts[0::2], texts, strict=True))
