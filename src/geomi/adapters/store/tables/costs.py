"""The ledger of what models were paid for one tenant.

Names and numbers may come from a model's server: what no store can keep is refused, and nothing is
ever taken away from the ledger.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Sequence

from geomi.adapters.store.mapping import RowMapper
from geomi.adapters.store.rows import refuse_long
from geomi.adapters.store.session import OwnedTable
from geomi.adapters.store.statements import table_statements
from geomi.errors import StoreError
from geomi.model.index.language_model import CostLine

MAX_AMOUNT = 2**53  # what JSON carries exactly; a thousand of them fit into a column

AMOUNTS = ("calls", "failures", "tokens_in", "tokens_out", "micros")

ROWS = RowMapper(CostLine, "costs")
SQL = table_statements("costs", ROWS)

CostKey = tuple[str, str, str, str, str]


class CostTable(OwnedTable):
    """`ports.pages.Costs` of one tenant."""

    async def add(self, lines: Sequence[CostLine]) -> None:
        """Add to what is written down for the same keys."""
        many = [ROWS.values(line) | {"tenant": self._tenant} for line in summed(lines)]
        await self._database.write(lambda db: db.run_each(SQL["add"], many))

    async def list(self, job: str = "") -> builtins.list[CostLine]:
        """List the lines of a job, or of all jobs."""
        values = {"tenant": self._tenant, "job": job}
        rows = await self._database.read(lambda db: db.rows(SQL["list"], values))
        return [ROWS.read(row) for row in rows]

    async def spent(self, job: str) -> int:
        """Return what a job has cost so far."""
        values = {"tenant": self._tenant, "job": job}
        return int(await self._database.read(lambda db: db.value(SQL["spent"], values)))


def summed(lines: Iterable[CostLine]) -> list[CostLine]:
    """Return one line for each key, in the order in which everybody locks them."""
    sums: dict[CostKey, CostLine] = {}
    for line in lines:
        _refuse(line)
        key = key_of(line)
        sums[key] = added(sums[key], line) if key in sums else line
    return [sums[key] for key in sorted(sums)]


def added(kept: CostLine, more: CostLine) -> CostLine:
    """Return what two lines of one key are together."""
    amounts = (getattr(kept, name) + getattr(more, name) for name in AMOUNTS)
    return CostLine(kept.job, kept.day, kept.purpose, kept.provider, kept.model, *amounts)


def key_of(line: CostLine) -> CostKey:
    """Return what tells a line from the others of its tenant."""
    return (line.job, line.day, line.purpose.value, line.provider, line.model)


def _refuse(line: CostLine) -> None:
    for what in ("job", "day", "provider", "model"):
        refuse_long(what, getattr(line, what))
    for name in AMOUNTS:
        amount = getattr(line, name)
        if not 0 <= amount <= MAX_AMOUNT:
            raise StoreError(
                f"`{name}` of a cost of job `{line.job}` is {amount}",
                hint=f"an amount is from 0 to {MAX_AMOUNT}",
            )
