"""The robots.txt files fetched so far, for every tenant."""

from __future__ import annotations

from functools import partial

from geomi.adapters.store.rows import robots_columns, robots_of
from geomi.adapters.store.sqlite.connection import SqliteDatabase, SqliteSession
from geomi.adapters.store.statements import statements
from geomi.model.robots import RobotsCopy, RobotsKey

SQL = statements("store.sqlite", "robots")


class SqliteRobotsCopies:
    """`ports.store.RobotsCopies`."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    async def get(self, key: RobotsKey) -> RobotsCopy | None:
        """Find the newest copy."""
        with self._database.reading() as db:
            row = db.execute(SQL["get"], (key.scheme, key.host, key.token)).fetchone()
        return robots_of(key, row) if row else None

    async def put(self, copy: RobotsCopy) -> None:
        """Keep a copy in place of the one before."""
        await self._database.write(partial(_put, copy=copy))


def _put(db: SqliteSession, *, copy: RobotsCopy) -> None:
    db.execute(SQL["asked"], (copy.fetched_s, copy.key.host))
    db.execute(SQL["put"], robots_columns(copy))
