"""The robots.txt files fetched so far, for every tenant."""

from __future__ import annotations

from dataclasses import asdict

from geomi.adapters.store.mapping import RowMapper
from geomi.adapters.store.session import Session, SharedTable, Values
from geomi.adapters.store.statements import table_statements
from geomi.model.robots import RobotsCopy, RobotsKey

ROWS = RowMapper(RobotsCopy, "robots", prefixes={"key": ""}, named_by="host")
SQL = table_statements("robots", ROWS)


class RobotsTable(SharedTable):
    """`ports.store.RobotsCopies`."""

    async def get(self, key: RobotsKey) -> RobotsCopy | None:
        """Find the newest copy."""
        row = await self._database.read(lambda db: db.row(SQL["get"], asdict(key)))
        return ROWS.read(row) if row else None

    async def put(self, copy: RobotsCopy) -> None:
        """Keep a copy in place of the one before."""
        values = ROWS.values(copy)
        await self._database.write(lambda db: _put(db, values))


def _put(db: Session, values: Values) -> None:
    db.send(SQL["answered"], values)
    db.send(SQL["put"], values)
