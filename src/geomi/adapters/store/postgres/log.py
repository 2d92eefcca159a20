"""The log of every request that was sent, whoever sent it: what `geomi audit` reads."""

from __future__ import annotations

from collections.abc import Sequence

from geomi.adapters.store.postgres.connection import PostgresDatabase
from geomi.adapters.store.postgres.session import PostgresSession, columns
from geomi.adapters.store.rows import Row, asked_columns, asked_of, legible
from geomi.adapters.store.statements import statements
from geomi.model.request_log import SentRequest

SQL = statements("store.postgres", "log")

_REQUEST = (
    "host", "job", "owner", "ip", "purpose", "url", "started_s", "ended_s", "status", "outcome",
    "floor_s", "robots_at_s", "robots_line",
)  # fmt: skip


class PostgresRequestLog:
    """`ports.store.RequestLog`."""

    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database

    async def hosts(self) -> list[str]:
        """List the hosts that were asked anything."""
        return await self._names("hosts")

    async def of_host(self, host: str, *, after_s: float, limit: int) -> list[SentRequest]:
        """List a host's requests; more than `limit` where several started at the same moment."""
        return await self._rows("of_host", host, after_s, limit)

    async def ips(self) -> list[str]:
        """List the addresses that were asked anything."""
        return await self._names("ips")

    async def of_ip(self, ip: str, *, after_s: float, limit: int) -> list[SentRequest]:
        """List an address's requests; more than `limit` where several started at one moment."""
        return await self._rows("of_ip", ip, after_s, limit)

    async def _names(self, query: str) -> list[str]:
        rows = await self._database.read(lambda db: db.rows(SQL[query]))
        return [name for (name,) in rows]

    async def _rows(self, query: str, name: str, after_s: float, limit: int) -> list[SentRequest]:
        values = {"name": name, "after_s": after_s, "many": limit}
        rows = await self._database.read(lambda db: db.rows(SQL[query], values))
        with legible("requests", name):
            return [asked_of(row) for row in rows]


def write_log(db: PostgresSession, asked: Sequence[SentRequest]) -> None:
    """Write requests down; one that was written before stays as it is."""
    different = list(dict.fromkeys(asked))
    names = {name for one in different for name in (one.host, one.job, one.owner)}
    names |= {one.ip for one in different if one.ip}
    numbers = _numbers(db, sorted(names))
    rows = [
        (
            numbers[one.host], numbers[one.job], numbers[one.owner], numbers.get(one.ip),
            *_columns(asked_columns(one)),
        )
        for one in different
    ]  # fmt: skip
    db.send(SQL["write"], columns(rows, _REQUEST))


def _numbers(db: PostgresSession, names: Sequence[str]) -> dict[str, int]:
    """Return the numbers of names, and give one to each that is new."""
    numbers: dict[str, int] = dict(db.rows(SQL["numbers"], {"names": names}))
    missing = {"names": [name for name in names if name not in numbers]}
    if missing["names"]:
        db.send(SQL["new_names"], missing)
        numbers |= dict(db.rows(SQL["numbers"], missing))
    return numbers


def _columns(row: Row) -> Row:
    """Write a request; arrays hold numbers of one kind."""
    purpose, url, started_s, ended_s, status, outcome, floor_s, robots_at_s, robots_line = row
    return (
        purpose, url, float(started_s), float(ended_s), status, outcome, float(floor_s),
        None if robots_at_s is None else float(robots_at_s), robots_line,
    )  # fmt: skip
