"""The workers of a store, and their duties."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from functools import partial

from geomi.adapters.store.codec import encode
from geomi.adapters.store.sqlite.connection import SqliteDatabase, SqliteSession
from geomi.adapters.store.statements import statements
from geomi.adapters.store.tables.workers import card_columns, card_of
from geomi.model.worker import WorkerCard

SQL = statements("store.sqlite", "workers")


class SqliteWorkers:
    """`ports.workers.Workers` of a store."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    async def enrol(self, card: WorkerCard) -> None:
        """Keep a worker's card, in place of an older one of the same name."""
        values = card_columns(card)
        await self._database.write(lambda db: db.execute(SQL["enrol"], values))

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
        return await self._database.write(
            lambda db: db.execute(SQL["beat"], values).rowcount == 1,
        )

    async def leave(self, owners: Sequence[str]) -> None:
        """Strike workers off, and with them the duties that they held."""
        await self._database.write(partial(_leave, owners=owners))

    async def list(self) -> builtins.list[WorkerCard]:
        """List every card with the hosts that its worker has not given back, oldest first."""
        with self._database.reading() as db:
            return [card_of(row) for row in db.execute(SQL["list"])]

    async def take(self, duty: str, *, owner: str, until_s: float, now_s: float) -> str:
        """Take or keep a duty that nobody else holds now; return who holds it then."""
        values = {"duty": duty, "owner": owner, "until_s": until_s, "now_s": now_s}
        return await self._database.write(partial(_take, values=values))

    async def drop(self, duty: str, *, owner: str) -> None:
        """Give a duty back, if it is still ours."""
        values = {"duty": duty, "owner": owner}
        await self._database.write(lambda db: db.execute(SQL["drop"], values))


def _leave(db: SqliteSession, *, owners: Sequence[str]) -> None:
    for name in ("leave", "leave_duties"):
        db.executemany(SQL[name], ((owner,) for owner in owners))


def _take(db: SqliteSession, *, values: dict[str, object]) -> str:
    db.execute(SQL["take"], values)
    return str(db.execute(SQL["holder"], values).fetchone()[0])
