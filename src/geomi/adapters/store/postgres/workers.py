"""The workers of a store, and their duties."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from functools import partial

from geomi.adapters.store.codec import encode
from geomi.adapters.store.postgres.connection import PostgresDatabase
from geomi.adapters.store.postgres.session import PostgresSession, TransactionClash
from geomi.adapters.store.statements import statements
from geomi.adapters.store.tables.workers import card_columns, card_of
from geomi.model.worker import WorkerCard

SQL = statements("store.postgres", "workers")


class PostgresWorkers:
    """`ports.workers.Workers` of a store."""

    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database

    async def enrol(self, card: WorkerCard) -> None:
        """Keep a worker's card, in place of an older one of the same name."""
        values = card_columns(card)
        await self._database.write(lambda db: db.run(SQL["enrol"], values))

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
        """Strike workers off, and with them the duties that they held."""
        await self._database.write(partial(_leave, owners=list(owners)))

    async def list(self) -> builtins.list[WorkerCard]:
        """List every card with the hosts that its worker has not given back, oldest first."""
        rows = await self._database.read(lambda db: db.rows(SQL["list"]))
        return [card_of(row) for row in rows]

    async def take(self, duty: str, *, owner: str, until_s: float, now_s: float) -> str:
        """Take or keep a duty that nobody else holds now; return who holds it then."""
        values = {"duty": duty, "owner": owner, "until_s": until_s, "now_s": now_s}
        return await self._database.write(partial(_take, values=values))

    async def drop(self, duty: str, *, owner: str) -> None:
        """Give a duty back, if it is still ours."""
        values = {"duty": duty, "owner": owner}
        await self._database.write(lambda db: db.run(SQL["drop"], values))


def _leave(db: PostgresSession, *, owners: builtins.list[str]) -> None:
    for name in ("leave", "leave_duties"):
        db.run(SQL[name], {"owners": owners})


def _take(db: PostgresSession, *, values: dict[str, object]) -> str:
    if db.run(SQL["take"], values):
        return str(values["owner"])
    row = db.row(SQL["holder"], values)
    if row is None:
        raise TransactionClash  # it was given back at this moment
    return str(row[0])
