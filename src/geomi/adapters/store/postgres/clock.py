"""The time of a PostgreSQL server, by which every process of its store goes."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from geomi.adapters.store.postgres.connection import PostgresDatabase
from geomi.adapters.store.postgres.migrate import SQL
from geomi.adapters.store.postgres.session import PostgresSession
from geomi.adapters.store.tables import facts
from geomi.adapters.store.tables.workers import last_beat_s
from geomi.ports.runtime import ClockComparison

OFFSET = "offset"
_READINGS = 5


class PostgresClock:
    """`ports.runtime.ServerClock` of a store."""

    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database

    def time_s(self) -> float:
        """Return the store's time, as near as the quickest of some answers tells it.

        It is not before the last sign of any worker, whatever became of the server's clock.
        """
        found = self._database.read_now(partial(_compare, now_s=time.monotonic))
        heard_s = self._database.read_now(last_beat_s)
        return max(found.ahead_s + time.monotonic(), heard_s)

    async def compare(self, now_s: Callable[[], float]) -> ClockComparison:
        """Say how far the store's time is ahead of a clock."""
        return await self._database.read(partial(_compare, now_s=now_s))

    async def set_offset(self, offset_s: float, *, instead_of: float) -> bool:
        """Let the store's time differ from its server's by so much; False where another did."""
        work = partial(_set_offset, offset_s=offset_s, instead_of=instead_of)
        return await self._database.write(work)


def _compare(db: PostgresSession, *, now_s: Callable[[], float]) -> ClockComparison:
    """Ask some times; half of the shortest way there and back is how old the answer is."""
    best, shortest_s = ClockComparison(0.0, 0.0), float("inf")
    for _ in range(_READINGS):
        asked_s = now_s()
        row = db.row(SQL["server_time"])
        read_s = now_s()
        assert row is not None
        if read_s - asked_s < shortest_s:
            shortest_s = read_s - asked_s
            told_s, offset_s = row
            best = ClockComparison(told_s + offset_s + shortest_s / 2 - read_s, offset_s)
    return best


def _set_offset(db: PostgresSession, *, offset_s: float, instead_of: float) -> bool:
    holding = facts.get_fact(db, OFFSET)
    if (float(holding) if holding else 0.0) != instead_of:
        return False
    return facts.change_fact(db, OFFSET, repr(offset_s), instead_of=holding) is None
