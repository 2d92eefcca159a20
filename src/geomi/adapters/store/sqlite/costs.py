"""The ledger of what models were paid for one tenant."""

from __future__ import annotations

import builtins
import sqlite3
from collections.abc import Iterable, Sequence
from functools import partial

from geomi.adapters.store.rows import Row
from geomi.adapters.store.sqlite.connection import SqliteDatabase
from geomi.adapters.store.statements import statements
from geomi.adapters.store.tables.costs import line_columns, line_of, summed
from geomi.model.index.language_model import CostLine

SQL = statements("store.sqlite", "costs")


class SqliteCosts:
    """`ports.knowledge.Costs` of one tenant."""

    def __init__(self, database: SqliteDatabase, tenant: str) -> None:
        self._database = database
        self._tenant = tenant

    async def add(self, lines: Sequence[CostLine]) -> None:
        """Add to what is written down for the same keys."""
        rows = [(self._tenant, *line_columns(line)) for line in summed(lines)]
        await self._database.write(partial(_add, rows=rows))

    async def list(self, job: str = "") -> builtins.list[CostLine]:
        """List the lines of a job, or of all jobs."""
        values = {"tenant": self._tenant, "job": job}
        with self._database.read() as db:
            return [line_of(row) for row in db.execute(SQL["list"], values)]

    async def spent(self, job: str) -> int:
        """Return what a job has cost so far."""
        with self._database.read() as db:
            return int(db.execute(SQL["spent"], (self._tenant, job)).fetchone()[0])


def _add(db: sqlite3.Connection, *, rows: Iterable[Row]) -> None:
    db.executemany(SQL["add"], rows)
