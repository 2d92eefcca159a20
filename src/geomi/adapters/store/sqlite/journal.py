"""What became of jobs, and who has yet to be told of it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from geomi.adapters.store.sqlite.connection import SqliteDatabase, SqliteSession
from geomi.adapters.store.statements import statements
from geomi.adapters.store.tables import named_values
from geomi.adapters.store.tables.journal import (
    check_named_values,
    event_of,
    event_values,
    is_step,
    is_told,
    listed_events,
    step_of,
)
from geomi.model.job import CrawlJob, JobEvent
from geomi.model.named_value import NamedValue

SQL = statements("store.sqlite", "journal")


class SqliteJournal:
    """`ports.journal.Journal` of one tenant."""

    def __init__(self, database: SqliteDatabase, tenant: str) -> None:
        self._database = database
        self._tenant = tenant

    async def read(self, job: str, *, after: int = 0, limit: int) -> list[JobEvent]:
        """List a job's events after one, in their order."""
        values = {"job": job, "tenant": self._tenant, "after": after, "many": listed_events(limit)}
        with self._database.reading() as db:
            return [event_of(row) for row in db.execute(SQL["read"], values)]


class SqliteUnsentEvents:
    """`ports.journal.Untold`."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    async def untold(self, limit: int) -> list[JobEvent]:
        """List events that nobody was told of, oldest first."""
        with self._database.reading() as db:
            rows = db.execute(SQL["untold"], {"many": listed_events(limit)})
            return [event_of(row) for row in rows]

    async def tell(self, event: JobEvent, slips: Sequence[NamedValue]) -> bool:
        """Note that an event is told, and put what has to be delivered into drawers, or neither."""
        check_named_values(slips)
        return await self._database.write(partial(_tell, event=event, slips=tuple(slips)))


def write_step(
    db: SqliteSession,
    number: int,
    before: CrawlJob | None,
    job: CrawlJob,
    *,
    wall_s: float | None,
) -> None:
    """Write down what became of a job, if it is worth an event.

    Args:
        number: stands for the job in keys.
        before: how it was; None for a new one.
    """
    if before is not None and not is_step(before, job):
        return
    (last,) = db.execute(SQL["last"], {"job": number}).fetchone()
    event = step_of(job, last + 1, wall_s)
    values = event_values(event) | {"job": number, "n": event.n, "is_told": is_told(job)}
    db.execute(SQL["add"], values)


def _tell(db: SqliteSession, *, event: JobEvent, slips: Sequence[NamedValue]) -> bool:
    values = {"job": event.job, "tenant": event.tenant, "n": event.n}
    if db.execute(SQL["tell"], values).rowcount == 0:
        return False
    for slip in slips:
        db.send(named_values.SQL["add"], named_values.ROWS.values(slip))
    return True
