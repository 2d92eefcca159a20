"""Which domains are visited most, for every tenant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from geomi.adapters.store.session import SharedTable
from geomi.adapters.store.statements import table_statements

SQL = table_statements("ranks")


class RankTable(SharedTable):
    """`ports.sites.Ranks`."""

    async def put(self, ranks: Sequence[tuple[str, int]], *, edition: int) -> None:
        """Keep a part of a list."""
        many = [{"name": name, "rank": rank, "edition": edition} for name, rank in ranks]
        await self._database.write(lambda db: db.send_all(SQL["put"], many))

    async def keep_only(self, edition: int) -> None:
        """Forget every list but one."""
        await self._database.write(lambda db: db.run(SQL["drop"], {"edition": edition}))

    async def find(self, names: Sequence[str]) -> Mapping[str, int]:
        """Return the ranks of those names that have one."""
        many = [{"name": name} for name in names]
        return dict(await self._database.read(lambda db: db.rows_of_each(SQL["find"], many)))

    async def count(self) -> int:
        """Return how many names have a rank."""
        return int(await self._database.read(lambda db: db.value(SQL["count"])))
