"""One connection while some work has it: statements by name, rows as tuples, in binary."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import psycopg

from geomi.adapters.store.postgres.arrays import packed
from geomi.adapters.store.rows import Row
from geomi.adapters.store.session import NO_VALUES, Statement, Values

Answer = psycopg.Cursor[Row]


class PostgresSession:
    """Statements of one transaction, or single reads.

    In a transaction what is sent is not waited for until something is asked: statements that depend
    on no answer cost no way there and back. A fault of one is told at the next answer, or at the
    end.
    """

    __slots__ = ("_db", "_pipeline")

    def __init__(self, db: psycopg.Connection, pipeline: psycopg.Pipeline | None = None) -> None:
        self._db = db
        self._pipeline = pipeline

    def rows(self, statement: Statement | str, values: Values = NO_VALUES) -> list[Row]:
        """Return every row."""
        return self.ask(statement, values).fetchall()

    def row(self, statement: Statement | str, values: Values = NO_VALUES) -> Row | None:
        """Return the first row, if there is one."""
        return self.ask(statement, values).fetchone()

    def value(self, statement: Statement | str, values: Values = NO_VALUES) -> Any:
        """Return the first column of a row that is always there."""
        row = self.row(statement, values)
        assert row is not None
        return row[0]

    def ask(self, statement: Statement | str, values: Values = NO_VALUES) -> Answer:
        """Send a question whose answer is read later, with others on one way."""
        return self._db.execute(_text(statement), _packed(values), binary=True)

    def send(self, statement: Statement | str, values: Values = NO_VALUES) -> None:
        """Change something, whatever the number of rows."""
        self._db.execute(_text(statement), _packed(values))

    def run(self, statement: Statement | str, values: Values = NO_VALUES) -> int:
        """Return how many rows were changed."""
        done = self._db.execute(_text(statement), _packed(values))
        if self._pipeline is not None:
            self._pipeline.sync()
        return done.rowcount

    def rows_of_each(self, statement: Statement, many: Iterable[Values]) -> list[Row]:
        """Ask the same for each of some values, all on one way; return every row in their order."""
        with self._db.pipeline():
            answers = [self.ask(statement, values) for values in many]
            return [row for answer in answers for row in answer.fetchall()]

    def rows_of_all(self, statement: Statement, many: Iterable[Values]) -> list[Row]:
        """Ask the same for many values; the statement takes an array for each of its names."""
        rows = list(many)
        return self.rows(statement, _arrays(statement, rows)) if rows else []

    def run_each(self, statement: Statement, many: Iterable[Values]) -> int:
        """Change the same for each of some values; return how many rows were changed."""
        with self._db.pipeline() as pipeline:
            done = [self.ask(statement, values) for values in many]
            pipeline.sync()
            return sum(each.rowcount for each in done)

    def send_all(self, statement: Statement, many: Iterable[Values]) -> None:
        """Change the same for many values; the statement takes an array for each of its names."""
        if rows := list(many):
            self.send(statement, _arrays(statement, rows))

    def transaction(self) -> AbstractContextManager[object]:
        """Make one transaction of what follows."""
        return self._db.transaction()

    def script(self, text: str) -> None:
        """Run several statements without values."""
        self._db.execute(text)


def columns(rows: Sequence[Sequence[Any]], names: Sequence[str]) -> dict[str, list[Any]]:
    """Turn rows into one array for each column, by name: many rows are one statement.

    Statements take arrays in binary (`%(name)b`): as text, 16 bytes take 17 µs instead of 0.3.
    """
    if not rows:
        return {name: [] for name in names}
    return {name: list(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}


def _text(statement: Statement | str) -> str:
    """Return a text of PostgreSQL's own, or that of a statement for both databases."""
    return statement if isinstance(statement, str) else statement.postgres


def _arrays(statement: Statement, rows: Sequence[Values]) -> dict[str, object]:
    """Return whole columns; what only SQLite's text names is not packed for nothing."""
    names = [name for name in rows[0] if f"%({name})" in statement.postgres]
    return {name: [row[name] for row in rows] for name in names}


def _packed(values: Values) -> Values:
    return {
        name: packed(value) if isinstance(value, list) else value for name, value in values.items()
    }
