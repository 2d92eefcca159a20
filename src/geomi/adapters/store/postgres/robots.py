"""The robots.txt files fetched so far, for every tenant."""

from __future__ import annotations

from geomi.adapters.store.postgres.connection import PostgresDatabase
from geomi.adapters.store.postgres.session import PostgresSession
from geomi.adapters.store.rows import robots_columns, robots_of
from geomi.adapters.store.session import Values
from geomi.adapters.store.statements import statements
from geomi.model.robots import RobotsCopy, RobotsKey

SQL = statements("store.postgres", "robots")

_ROBOTS = (
    "scheme", "host", "token", "status", "body", "fetched_s", "failure", "detail", "max_age_s",
    "redirects",
)  # fmt: skip


class PostgresRobotsCopies:
    """`ports.store.RobotsCopies`."""

    def __init__(self, database: PostgresDatabase) -> None:
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


def _put(db: PostgresSession, values: Values) -> None:
    db.run(SQL["asked"], values)
    db.run(SQL["put"], values)
