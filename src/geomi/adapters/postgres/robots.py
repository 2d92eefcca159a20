"""The robots.txt files fetched so far, for every tenant."""

from __future__ import annotations

from geomi.adapters.ledger.records import robots_columns, robots_of
from geomi.adapters.postgres.connection import Database
from geomi.adapters.postgres.session import Session, Values
from geomi.adapters.statements import statements
from geomi.model.robots import RobotsCopy, RobotsKey

SQL = statements("postgres", "robots")

_ROBOTS = (
    "scheme", "host", "token", "status", "body", "fetched_s", "failure", "detail", "max_age_s",
    "redirects",
)  # fmt: skip


class PostgresRobotsCopies:
    """`ports.store.RobotsCopies`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, key: RobotsKey) -> RobotsCopy | None:
        """Find the newest copy."""
        values = {"scheme": key.scheme, "host": key.host, "token": key.token}
        row = await self._database.read(lambda db: db.row(SQL["get"], values))
        return robots_of(key, row) if row else None

    async def put(self, copy: RobotsCopy) -> None:
        """Keep a copy in place of the one before."""
        values = dict(zip(_ROBOTS, robots_columns(copy), strict=True))
        await self._database.write(lambda db: _put(db, values))


def _put(db: Session, values: Values) -> None:
    db.run(SQL["asked"], values)
    db.run(SQL["put"], values)
