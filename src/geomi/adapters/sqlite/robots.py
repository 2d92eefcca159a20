"""The robots.txt files fetched so far, for every tenant."""

from __future__ import annotations

import sqlite3
from functools import partial

from geomi.adapters.ledger.rows import legible
from geomi.adapters.sqlite.connection import Database
from geomi.adapters.statements import statements
from geomi.model.robots import RobotsCopy, RobotsKey
from geomi.model.verdict import Outcome

SQL = statements("sqlite", "robots")


class SqliteRobotsCopies:
    """`ports.store.RobotsCopies`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, key: RobotsKey) -> RobotsCopy | None:
        """Find the newest copy."""
        with self._database.read() as db:
            row = db.execute(SQL["get"], (key.scheme, key.host, key.token)).fetchone()
        if row is None:
            return None
        status, body, fetched_s, failure, detail, max_age_s, redirects = row
        with legible("robots", key.host):
            return RobotsCopy(
                key=key,
                status=status,
                body=body,
                fetched_s=fetched_s,
                failure=Outcome(failure) if failure else None,
                detail=detail,
                max_age_s=max_age_s,
                redirects=redirects,
            )

    async def put(self, copy: RobotsCopy) -> None:
        """Keep a copy in place of the one before."""
        await self._database.write(partial(_put, copy=copy))


def _put(db: sqlite3.Connection, *, copy: RobotsCopy) -> None:
    key = copy.key
    db.execute(
        SQL["put"],
        (
            key.scheme, key.host, key.token, copy.status, copy.body, copy.fetched_s,
            copy.failure.value if copy.failure else None, copy.detail, copy.max_age_s,
            copy.redirects,
        ),
    )  # fmt: skip
