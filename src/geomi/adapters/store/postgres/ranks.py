"""Which domains are visited most, for every tenant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from geomi.adapters.store.postgres.connection import PostgresDatabase
from geomi.adapters.store.postgres.session import columns
from geomi.adapters.store.statements import statements

SQL = statements("store.postgres", "ranks")


class PostgresRanks:
    """`ports.site.Ranks`."""

    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database

    async def put(self, ranks: Sequence[tuple[str, int]], *, edition: int) -> None:
        """Keep a part of a list."""
        values: dict[str, object] = {"edition": edition}
        values |= columns(ranks, ("names", "ranks"))
        await self._database.write(lambda db: db.run(SQL["put"], values))

    async def keep_only(self, edition: int) -> None:
        """Forget every list but one."""
        await self._database.write(lambda db: db.run(SQL["drop"], {"edition": edition}))

    async def find(self, names: Sequence[str]) -> Mapping[str, int]:
        """Return the ranks of those names that have one."""
        values = {"names": list(names)}
        return dict(await self._database.read(lambda db: db.rows(SQL["find"], values)))

    async def count(self) -> int:
        """Return how many names have a rank."""
        return int(await self._database.read(lambda db: db.value(SQL["count"])))
