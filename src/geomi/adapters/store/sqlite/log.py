"""The log of every request that was sent, whoever sent it: what `geomi audit` reads."""

from __future__ import annotations

from collections.abc import Sequence

from geomi.adapters.store.rows import asked_columns, asked_of, legible
from geomi.adapters.store.sqlite.connection import SqliteDatabase, SqliteSession
from geomi.adapters.store.statements import statements
from geomi.model.request_log import SentRequest

SQL = statements("store.sqlite", "log")


class SqliteRequestLog:
    """`ports.store.RequestLog`."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    async def hosts(self) -> list[str]:
        """List the hosts that were asked anything."""
        return self._names("hosts")

    async def of_host(self, host: str, *, after_s: float, limit: int) -> list[SentRequest]:
        """List a host's requests; more than `limit` where several started at the same moment."""
        return self._rows("of_host", host, after_s, limit)

    async def ips(self) -> list[str]:
        """List the addresses that were asked anything."""
        return self._names("ips")

    async def of_ip(self, ip: str, *, after_s: float, limit: int) -> list[SentRequest]:
        """List an address's requests; more than `limit` where several started at one moment."""
        return self._rows("of_ip", ip, after_s, limit)

    def _names(self, query: str) -> list[str]:
        with self._database.reading() as db:
            return [name for (name,) in db.execute(SQL[query])]

    def _rows(self, query: str, name: str, after_s: float, limit: int) -> list[SentRequest]:
        values = {"name": name, "after_s": after_s, "many": limit}
        with self._database.reading() as db, legible("requests", name):
            return [asked_of(row) for row in db.execute(SQL[query], values)]


def write_log(db: SqliteSession, asked: Sequence[SentRequest]) -> None:
    """Write requests down; one that was written before stays as it is."""
    numbers = _Numbers(db)
    db.executemany(
        SQL["write"],
        [
            (
                numbers[one.host], numbers[one.job], numbers[one.owner],
                numbers[one.ip] if one.ip else None, *asked_columns(one),
            )
            for one in asked
        ],
    )  # fmt: skip


class _Numbers(dict[str, int]):
    """The numbers of the names met in one transaction."""

    def __init__(self, db: SqliteSession) -> None:
        super().__init__()
        self._db = db

    def __missing__(self, name: str) -> int:
        row = self._db.execute(SQL["number"], (name,)).fetchone()
        number = row[0] if row else self._db.execute(SQL["new_name"], (name,)).lastrowid
        assert number is not None
        self[name] = number
        return number
