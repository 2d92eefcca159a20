"""The journal: what became of jobs step by step, and which steps nobody was told of yet."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

from geomi.adapters.store.mapping import RowMapper
from geomi.adapters.store.session import OwnedTable, Session, SharedTable
from geomi.adapters.store.statements import table_statements
from geomi.adapters.store.tables import named_values
from geomi.errors import StoreError
from geomi.model.job import MAX_LISTED_EVENTS, STATE_EVENT, CrawlJob, JobEvent
from geomi.model.named_value import MAX_LISTED_VALUES, NamedValue

MAX_ERROR_CHARS = 2000  # the job's own row has all of it

ROWS = RowMapper(JobEvent, "journal")
SQL = table_statements("journal")


class JournalTable(OwnedTable):
    """`ports.jobs.JobJournal` of one tenant."""

    async def read(self, job: str, *, after: int = 0, limit: int) -> list[JobEvent]:
        """List a job's events after one, in their order."""
        values = {"id": job, "tenant": self._tenant, "after": after, "many": listed_events(limit)}
        rows = await self._database.read(lambda db: db.rows(SQL["read"], values))
        return [ROWS.read(row) for row in rows]


class UnsentEventTable(SharedTable):
    """`ports.jobs.UnsentEvents`."""

    async def list(self, limit: int) -> Sequence[JobEvent]:
        """List them, oldest first."""
        values = {"many": listed_events(limit)}
        rows = await self._database.read(lambda db: db.rows(SQL["untold"], values))
        return [ROWS.read(row) for row in rows]

    async def hand_over(self, event: JobEvent, values: Sequence[NamedValue]) -> bool:
        """Keep the deliveries of an event and strike it off, or neither."""
        check_named_values(values)
        return await self._database.write(lambda db: _hand_over(db, event, values))


def write_step(
    db: Session, number: int, before: CrawlJob | None, job: CrawlJob, *, wall_s: float | None
) -> None:
    """Write down what became of a job, if it is worth an event.

    The job's row is locked, so that the numbers have no gap.

    Args:
        number: stands for the job in keys.
        before: how it was; None for a new one.
    """
    if before is not None and not is_step(before, job):
        return
    last = db.value(SQL["last"], {"job": number})
    values = ROWS.values(step_of(job, last + 1, wall_s))
    db.send(SQL["add"], values | {"job": number, "is_told": is_told(job)})


def is_step(before: CrawlJob, after: CrawlJob) -> bool:
    """Whether what became of a job is worth an event."""
    return (before.state, before.paused, before.stop) != (after.state, after.paused, after.stop)


def step_of(job: CrawlJob, n: int, wall_s: float | None) -> JobEvent:
    """Return the event that says how a job is now.

    Args:
        wall_s: when it came to this; None where nobody says, and the job's own times have to do.
    """
    own_s = (job.created_at_s, job.started_at_s or 0.0, job.ended_at_s or 0.0)
    at_s = max(own_s) if wall_s is None else wall_s
    return JobEvent(job.tenant, job.id, n, STATE_EVENT, _body(job), at_s)


def is_told(job: CrawlJob) -> bool:
    """Whether nobody has to be told of a job's steps: it is none of the service's."""
    return not job.collection


def listed_events(limit: int) -> int:
    """Return how many events are in one answer."""
    return max(0, min(limit, MAX_LISTED_EVENTS))


def check_named_values(values: Sequence[NamedValue]) -> None:
    """Refuse values that cannot all be put into namespaces at once."""
    if len(values) > MAX_LISTED_VALUES:
        raise StoreError(f"an event has {len(values):,} values; the limit is {MAX_LISTED_VALUES:,}")
    for value in values:
        named_values.check_named_value(value)


def _hand_over(db: Session, event: JobEvent, values: Sequence[NamedValue]) -> bool:
    if db.run(SQL["tell"], {"job": event.job, "tenant": event.tenant, "n": event.n}) == 0:
        return False
    for value in values:
        db.send(named_values.SQL["add"], named_values.ROWS.values(value))
    return True


def _body(job: CrawlJob) -> str:
    told = {
        "state": job.state.value,
        "paused": job.paused,
        "stop": job.stop.value if job.stop else None,
        "error": job.error[:MAX_ERROR_CHARS],
        "crawl": job.crawl,
        "collection": job.collection,
        "stats": asdict(job.stats),
    }
    return json.dumps(told, ensure_ascii=False, separators=(",", ":"))
