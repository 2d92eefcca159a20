"""Which domains are visited most, for every tenant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from geomi.adapters.store.sqlite.connection import SqliteDatabase, SqliteSession
from geomi.adapters.store.statements import statements

SQL = statements("store.sqlite", "ranks")


class SqliteRanks:
    """`ports.site.Ranks`."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    async def put(self, ranks: Sequence[tuple[str, int]], *, edition: int) -> None:
        """Keep a part of a list."""
        await self._database.write(partial(_put, ranks=ranks, edition=edition))

    async def keep_only(self, edition: int) -> None:
        """Forget every list but one."""
        await self._database.write(lambda db: db.execute(SQL["drop"], (edition,)))

    async def find(self, names: Sequence[str]) -> Mapping[str, int]:
        """Return the ranks of those names that have one."""
        with self._database.reading() as db:
            rows = {name: db.execute(SQL["find"], (name,)).fetchone() for name in names}
        return {name: row[0] for name, row in rows.items() if row}

    async def count(self) -> int:
        """Return how many names have a rank."""
        with self._database.reading() as db:
            return int(db.execute(SQL["count"]).fetchone()[0])


def _put(db: SqliteSession, *, ranks: Sequence[tuple[str, int]], edition: int) -> None:
    db.executemany(SQL["put"], ((name, rank, edition) for name, rank in ranks))
