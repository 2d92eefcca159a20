"""The workers of a store, and their duties."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from dataclasses import replace

from geomi.adapters.store.mapping import RowMapper
from geomi.adapters.store.rows import encode
from geomi.adapters.store.session import Session, SharedTable, TransactionClash, Values
from geomi.adapters.store.statements import table_statements
from geomi.model.worker import WorkerCard

ROWS = RowMapper(WorkerCard, "workers", without=frozenset({"hosts"}))  # these are counted, not kept
SQL = table_statements("workers", ROWS)


class WorkerTable(SharedTable):
    """`ports.workers.Workers` of a store."""

    async def enrol(self, card: WorkerCard) -> None:
        """Keep a worker's card, in place of an older one of the same name."""
        values = ROWS.values(card)
        await self._database.write(lambda db: db.send(SQL["enrol"], values))

    async def beat(
        self, owner: str, *, jobs: Sequence[str], pages: int, pages_per_s: float, now_s: float
    ) -> bool:
        """Note that a worker lives and how far it has come; False when it was struck off."""
        values = {
            "owner": owner,
            "jobs": encode(tuple(jobs)),
            "pages": pages,
            "pages_per_s": pages_per_s,
            "now_s": now_s,
        }
        return await self._database.write(lambda db: db.run(SQL["beat"], values) == 1)

    async def leave(self, owners: Sequence[str]) -> None:
        """Strike workers off, and with them the duties and shares that they held."""
        await self._database.write(lambda db: _leave(db, owners))

    async def list(self) -> builtins.list[WorkerCard]:
        """List every card with the hosts that its worker has not given back, oldest first."""
        rows = await self._database.read(lambda db: db.rows(SQL["list"]))
        return [replace(ROWS.read(row[:-1]), hosts=row[-1]) for row in rows]

    async def take(self, duty: str, *, owner: str, until_s: float, now_s: float) -> str:
        """Take or keep a duty that nobody else holds now; return who holds it then."""
        values = {"duty": duty, "owner": owner, "until_s": until_s, "now_s": now_s}
        return await self._database.write(lambda db: _take(db, values))

    async def drop(self, duty: str, *, owner: str) -> None:
        """Give a duty back, if it is still ours."""
        values = {"duty": duty, "owner": owner}
        await self._database.write(lambda db: db.send(SQL["drop"], values))


def last_beat_s(db: Session) -> float:
    """Return when any worker was last heard of."""
    return float(db.value(SQL["last_beat"]))


def _leave(db: Session, owners: Sequence[str]) -> None:
    gone = [{"owner": owner} for owner in sorted(owners)]
    for name in ("leave", "leave_duties", "leave_shares"):
        db.run_each(SQL[name], gone)


def _take(db: Session, values: Values) -> str:
    if db.run(SQL["take"], values):
        return str(values["owner"])
    row = db.row(SQL["holder"], values)
    if row is None:
        raise TransactionClash("the duty was given back at this moment")
    return str(row[0])
