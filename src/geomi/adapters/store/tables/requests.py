"""The log of every request that was sent, whoever sent it: what `geomi audit` reads."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from geomi.adapters.store.mapping import ColumnKind, RowMapper
from geomi.adapters.store.rows import Row, legible
from geomi.adapters.store.session import Session, SharedTable
from geomi.adapters.store.statements import table_statements
from geomi.adapters.store.tables import facts
from geomi.model.request_log import GoneRequests, SentRequest


def _time(value: Any) -> float:
    """Read a time; SQLite gives back whatever somebody has written over it."""
    if not isinstance(value, float):
        raise ValueError(f"{value!r} is no time, and a log with such a row proves nothing")
    return value


def _time_or_none(value: Any) -> float | None:
    return None if value is None else _time(value)


_TIME = ColumnKind(float, _time, _time)
ROWS = RowMapper(
    SentRequest,
    "requests",
    kinds={
        "started_s": _TIME,
        "ended_s": _TIME,
        "floor_s": _TIME,
        "robots_at_s": ColumnKind(float, _time_or_none, _time_or_none),
    },
)
SQL = table_statements("requests")
GONE = "requests_gone"


class RequestLogTable(SharedTable):
    """`ports.store.RequestLog`."""

    async def hosts(self) -> list[str]:
        """List the hosts that were asked anything."""
        return await self._names("hosts")

    async def of_host(self, host: str, *, after_s: float, limit: int) -> list[SentRequest]:
        """List a host's requests; more than `limit` where several started at the same moment."""
        return await self._requests("of_host", host, after_s, limit)

    async def ips(self) -> list[str]:
        """List the addresses that were asked anything."""
        return await self._names("ips")

    async def of_ip(self, ip: str, *, after_s: float, limit: int) -> list[SentRequest]:
        """List an address's requests; more than `limit` where several started at one moment."""
        return await self._requests("of_ip", ip, after_s, limit)

    async def forget(self, *, before_s: float, limit: int) -> int:
        """Forget some of the oldest requests that started before a time, and write that down."""
        return await self._database.write(lambda db: _forget(db, before_s, limit))

    async def gone(self) -> GoneRequests:
        """Say how many requests the log has dropped for their age, and up to when."""
        return await self._database.read(_gone)

    async def _names(self, query: str) -> list[str]:
        return [name for (name,) in await self._database.read(lambda db: db.rows(SQL[query]))]

    async def _requests(
        self, query: str, name: str, after_s: float, limit: int
    ) -> list[SentRequest]:
        values = {"name": name, "after_s": after_s, "many": limit}
        rows = await self._database.read(lambda db: db.rows(SQL[query], values))
        return [ROWS.read(row) for row in rows]


def _forget(db: Session, before_s: float, limit: int) -> int:
    many = db.run(SQL["forget"], {"before_s": before_s, "many": limit})
    if many:
        before = _gone(db)
        told = [before.requests + many, max(before.before_s, before_s)]
        facts.put_fact(db, GONE, json.dumps(told))
    return many


def _gone(db: Session) -> GoneRequests:
    text = facts.get_fact(db, GONE)
    if text is None:
        return GoneRequests()
    with legible("meta", GONE):
        return GoneRequests(*json.loads(text))


def request_rows(db: Session, sent: Sequence[SentRequest]) -> list[Row]:
    """Return requests as rows of the log, each once, in the order of `ROWS`.

    Settlements write them with a statement of their own: every request of a crawl passes here.
    """
    different = list(dict.fromkeys(sent))
    names = {name for one in different for name in (one.host, one.job, one.owner)}
    numbers = _numbers(db, sorted(names | {one.ip for one in different if one.ip}))
    return [
        (
            numbers[one.host], numbers[one.job], numbers[one.owner], numbers.get(one.ip),
            one.purpose.value, one.url, float(one.started_s), float(one.ended_s), one.status,
            one.outcome.value, float(one.floor_s),
            None if one.robots_at_s is None else float(one.robots_at_s), one.robots_line,
        )
        for one in different
    ]  # fmt: skip


def _numbers(db: Session, names: Sequence[str]) -> dict[str, int]:
    """Return the numbers that stand for names in the log, and give one to each that is new."""
    numbers: dict[str, int] = dict(db.rows_of_all(SQL["number"], [{"name": one} for one in names]))
    if missing := [{"name": name} for name in names if name not in numbers]:
        db.send_all(SQL["new_name"], missing)
        numbers |= dict(db.rows_of_all(SQL["number"], missing))
    return numbers
