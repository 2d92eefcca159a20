"""A real SQLite store in memory that can be put back to any moment it has been in.

A moment is the rows of the tables that the claim protocol changes. Rows that are the same are one
object, so that a hundred thousand moments fit into memory.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from geomi.adapters.store.rows import Row
from geomi.adapters.store.sqlite.connection import SqliteSession
from geomi.adapters.store.sqlite.migrate import migrate

T = TypeVar("T")
Moment = tuple[tuple[Row, ...], ...]

COUNTERS = (
    "pending", "completed", "discovered", "settled", "collected", "failed", "skipped", "blocked",
    "redirected", "duplicates", "poisoned", "retries", "requests", "bytes_received",
)  # fmt: skip
# What the protocol changes, in the order of a moment. Names of the log only ever grow.
TABLES = ("hosts", "queues", "entries", "captures", "pages", "requests", "lines", "jobs", "meta")
PLACE = {name: number for number, name in enumerate(TABLES)}


class AnswerLost(Exception):
    """The database goes away before a transaction ends: nothing of it was written."""


class Shelf:
    """One store in memory, with the transactions of the SQLite adapter."""

    def __init__(self) -> None:
        self._db = sqlite3.connect(":memory:", isolation_level=None, cached_statements=256)
        migrate(self._db, Path(":memory:"), "store.sqlite")
        self.session = SqliteSession(self._db)
        self._columns = {name: self._columns_of(name) for name in TABLES}
        self._read = {name: self._reading(name) for name in TABLES}
        self._write = {name: self._writing(name) for name in TABLES}
        self._now: list[tuple[Row, ...] | None] = [None] * len(TABLES)
        self._kept: dict[Any, Any] = {}

    def transact(self, work: Callable[[SqliteSession], T], *, breaks: bool = False) -> T:
        """Run one transaction, as `SqliteDatabase` does.

        Args:
            breaks: the connection ends before the commit.
        """
        self._db.execute("BEGIN IMMEDIATE")
        try:
            result = work(self.session)
            if breaks:
                raise AnswerLost
            self._db.execute("COMMIT")
        except BaseException:
            self._db.rollback()
            raise
        return result

    def write_now(self, work: Callable[[SqliteSession], T]) -> T:
        """Run one transaction."""
        return self.transact(work)

    def read_now(self, work: Callable[[SqliteSession], T]) -> T:
        """Read."""
        return work(self.session)

    async def write(self, work: Callable[[SqliteSession], T]) -> T:
        """Run one transaction, for tables that wait for it."""
        return self.transact(work)

    async def read(self, work: Callable[[SqliteSession], T]) -> T:
        """Read, for tables that wait for it."""
        return work(self.session)

    def moment(self) -> Moment:
        """Return the rows of every table that changes."""
        keep = self._kept
        for place, name in enumerate(TABLES):
            rows = tuple(
                keep.setdefault(row, row) for row in self._db.execute(self._read[name]).fetchall()
            )
            self._now[place] = keep.setdefault(rows, rows)
        return tuple(rows for rows in self._now if rows is not None)

    def put_back(self, moment: Moment) -> None:
        """Be as at a moment again; tables that are so already are left alone."""
        for place, (name, rows) in enumerate(zip(TABLES, moment, strict=True)):
            if self._now[place] is not rows:
                self._replace(name, rows)
                self._now[place] = rows

    def forget_where(self) -> None:
        """Note that something was changed which no moment was taken of."""
        self._now = [None] * len(TABLES)

    def _replace(self, name: str, rows: tuple[Row, ...]) -> None:
        if name == "jobs":  # its other columns never change here
            self._db.executemany(self._write[name], [(*row[1:], row[0]) for row in rows])
            return
        self._db.execute(f"DELETE FROM {name}")
        self._db.executemany(self._write[name], rows)

    def _columns_of(self, name: str) -> list[str]:
        if name == "jobs":
            return ["number", *COUNTERS]
        columns = self._db.execute(f"PRAGMA table_info({name})").fetchall()
        return [column[1] for column in columns]

    def _reading(self, name: str) -> str:
        columns = ", ".join(self._columns[name])
        return f"SELECT {columns} FROM {name} ORDER BY 1, 2"

    def _writing(self, name: str) -> str:
        columns = self._columns[name]
        if name == "jobs":
            changes = ", ".join(f"{column} = ?" for column in COUNTERS)
            return f"UPDATE jobs SET {changes} WHERE number = ?"
        marks = ", ".join("?" * len(columns))
        return f"INSERT INTO {name} ({', '.join(columns)}) VALUES ({marks})"

    def column(self, table: str, name: str) -> int:
        """Return where a column stands in the rows of a table."""
        return self._columns[table].index(name)
