"""The ledger of what models were paid for one tenant."""

from __future__ import annotations

import builtins
from collections.abc import Sequence

from geomi.adapters.store.postgres.connection import PostgresDatabase
from geomi.adapters.store.postgres.session import columns
from geomi.adapters.store.statements import statements
from geomi.adapters.store.tables.costs import COLUMNS, line_columns, line_of, summed
from geomi.model.index.language_model import CostLine

SQL = statements("store.postgres", "costs")


class PostgresCosts:
    """`ports.knowledge.Costs` of one tenant."""

    def __init__(self, database: PostgresDatabase, tenant: str) -> None:
        self._database = database
        self._tenant = tenant

    async def add(self, lines: Sequence[CostLine]) -> None:
        """Add to what is written down for the same keys."""
        values: dict[str, object] = {"tenant": self._tenant}
        values |= columns([line_columns(line) for line in summed(lines)], COLUMNS)
        await self._database.write(lambda db: db.run(SQL["add"], values))

    async def list(self, job: str = "") -> builtins.list[CostLine]:
        """List the lines of a job, or of all jobs."""
        values = {"tenant": self._tenant, "job": job}
        rows = await self._database.read(lambda db: db.rows(SQL["list"], values))
        return [line_of(row) for row in rows]

    async def spent(self, job: str) -> int:
        """Return what a job has cost so far."""
        values = {"tenant": self._tenant, "job": job}
        return int(await self._database.read(lambda db: db.value(SQL["spent"], values)))
