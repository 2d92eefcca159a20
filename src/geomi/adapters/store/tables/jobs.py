"""The jobs of one tenant; another tenant's job is one that is not there."""

from __future__ import annotations

import builtins
from dataclasses import asdict, replace
from typing import Any

from geomi.adapters.store.accounting.budget import budget_of, share_of
from geomi.adapters.store.accounting.hosts import demands_of
from geomi.adapters.store.mapping import RowMapper
from geomi.adapters.store.rows import encode, refuse_long
from geomi.adapters.store.session import OwnedTable, Session, Values
from geomi.adapters.store.statements import table_statements
from geomi.adapters.store.tables.journal import write_step
from geomi.adapters.store.tables.quotas import store_bytes
from geomi.errors import StoreError, UnknownName
from geomi.model.job import (
    MAX_LISTED_JOBS,
    MAX_NOTE_CHARS,
    CrawlJob,
    CrawlStats,
    JobBatch,
    JobFilter,
    JobState,
)

DAY_S = 86_400.0
_AFTER_EVERY_ID = "\U0010ffff"

ROWS = RowMapper(CrawlJob, "jobs", prefixes={"stats": "", "batch": "batch_"})
SQL = table_statements("jobs", ROWS)
# In the order in which all transactions lock.
_FORGET = (
    "forget_patterns", "forget_entries", "forget_queues", "forget_exclusions", "forget_cursors",
    "forget_shares", "forget_documents", "forget_lines", "forget_job", "forget_journal",
)  # fmt: skip


class JobTable(OwnedTable):
    """`ports.store.Jobs` of one tenant."""

    async def create(self, job: CrawlJob) -> None:
        """Keep a new job."""
        check_new(job, self._tenant)
        await self._database.write(lambda db: _create(db, job))

    async def get(self, job: str) -> CrawlJob | None:
        """Find a job with its counters."""
        return await self._database.read(lambda db: _find(db, job, self._tenant))

    async def list(self, *, limit: int) -> builtins.list[CrawlJob]:
        """List jobs, newest first."""
        values = {"tenant": self._tenant, "many": limit}
        rows = await self._database.read(lambda db: db.rows(SQL["list"], values))
        return [ROWS.read(row) for row in rows]

    async def page(
        self, which: JobFilter, *, before: str = "", limit: int
    ) -> builtins.list[CrawlJob]:
        """List jobs by their ids, newest first."""
        meant = meant_columns(which)
        place = {"before": before or _AFTER_EVERY_ID, "many": listed_jobs(limit)}
        values = {"tenant": self._tenant, **place, **meant}
        statement = SQL["page"].narrowed(meant)
        rows = await self._database.read(lambda db: db.rows(statement, values))
        return [ROWS.read(row) for row in rows]

    async def counts(self) -> dict[JobState, int]:
        """Count jobs by state."""
        values = {"tenant": self._tenant}
        rows = await self._database.read(lambda db: db.rows(SQL["counts"], values))
        return {JobState(state): many for state, many in rows}

    async def begin(self, job: str, *, most: int, wall_s: float) -> bool:
        """Let a job that is pending begin, where fewer than `most` of its tenant's have begun."""
        values = {"job": job, "tenant": self._tenant, "most": most, "wall_s": wall_s}
        return await self._database.write(lambda db: _begin(db, values, wall_s))

    async def update(self, job: CrawlJob, *, wall_s: float | None = None) -> None:
        """Write config, state, flags, times, stop reason and error."""
        await self._database.write(lambda db: _update(db, job, self._tenant, wall_s))

    async def turn(
        self,
        job: CrawlJob,
        *,
        was: JobState,
        only_empty: bool = False,
        most: int = 0,
        wall_s: float | None = None,
    ) -> bool:
        """Write state, times, stop reason and error of a job that is in the state `was`."""
        asked = {"was": was.value, "only_empty": only_empty, "most": most, "tenant": self._tenant}
        values = turned_columns(job) | asked
        return await self._database.write(lambda db: _turn(db, job, values, wall_s))

    async def turn_batch(self, job: str, batch: JobBatch, *, was: int) -> bool:
        """Begin a batch after the one of the number `was`."""
        values = {"job": job, "tenant": self._tenant, "was": was} | asdict(batch)
        return bool(await self._database.write(lambda db: db.run(SQL["turn_batch"], values)))

    async def look_again(self, job: str, at_s: float | None, note: str = "") -> None:
        """Say when a watched crawl is looked at again, and what keeps its pages from a visit."""
        values = {"job": job, "tenant": self._tenant, "at_s": at_s, "note": note[:MAX_NOTE_CHARS]}
        await self._database.write(lambda db: db.send(SQL["look_again"], values))

    async def successor(self, job: str) -> str:
        """Name the newest crawl that has taken the place of a crawl; empty if none has."""
        values = {"job": job, "tenant": self._tenant}
        row = await self._database.read(lambda db: db.row(SQL["successor"], values))
        return row[0] if row else ""

    async def worked(self, job: str, seconds: float) -> None:
        """Add seconds of work to a job, beside whatever else changes it."""
        await self._database.write(lambda db: _worked(db, job, self._tenant, seconds))

    async def delete(self, job: str) -> None:
        """Forget a job, its entries, its captures, its documents and its journal."""
        await self._database.write(lambda db: _delete(db, job, self._tenant))


def number_of(db: Session, job: str, tenant: str) -> int:
    """Return the number that stands for a job in keys."""
    number = known_number(db, job, tenant)
    if number is None:
        raise UnknownName(f"there is no job `{job}`", hint="`geomi jobs` lists what there is")
    return number


def known_number(db: Session, job: str, tenant: str) -> int | None:
    """Return the number that stands for a job in keys; None where there is no such job."""
    row = db.row(SQL["number"], {"job": job, "tenant": tenant})
    return None if row is None else int(row[0])


def check_new(job: CrawlJob, tenant: str) -> None:
    """Refuse a job of somebody else, and names that are too long for a key."""
    if job.tenant != tenant:
        raise StoreError(
            f"job `{job.id}` belongs to tenant `{job.tenant}`; this store is open for `{tenant}`"
        )
    for what in ("id", "tenant", "collection"):
        refuse_long(what, getattr(job, what))


def running_columns(job: CrawlJob) -> dict[str, Any]:
    """Return the columns that change while a job runs, with what claims need of the config."""
    config, demands, budget = job.config, demands_of(job.config), budget_of(job.config)
    return {
        "config": encode(config),
        "origins": encode(job.origins),
        "delay_s": demands.floor_s,
        "crawl_delay_cap_s": demands.cap_s,
        "max_pages": config.limits.max_pages,
        "max_hosts": config.politeness.max_hosts,
        "per_ip": config.politeness.per_ip,
        "importance": share_of(config),
        "max_queued": budget.per_job,
        "max_queued_per_host": budget.per_host,
        "max_queued_per_pattern": budget.per_pattern,
        "state": job.state.value,
        "paused": job.paused,
        "started_at_s": job.started_at_s,
        "ended_at_s": job.ended_at_s,
        "stop": job.stop.value if job.stop else None,
        "error": job.error,
        "is_active": not job.paused and not job.state.is_final,
        "keep_urls_s": config.retention.urls_days * DAY_S,
        "keep_job_s": config.retention.jobs_days * DAY_S,
        "is_watched": job.is_watched,
        "regions": encode(config.regions) if config.regions.are_named else "",
        "is_over": job.state.is_final,
    }


def turned_columns(job: CrawlJob) -> dict[str, Any]:
    """Return the columns that a step of a job changes; whether it is paused is not its matter."""
    return {
        "state": job.state.value,
        "started_at_s": job.started_at_s,
        "ended_at_s": job.ended_at_s,
        "stop": job.stop.value if job.stop else None,
        "error": job.error,
        "is_open": not job.state.is_final,
    }


def meant_columns(which: JobFilter) -> dict[str, str]:
    """Return the columns that a filter looks at, and what they have to be."""
    asked = {"collection": which.collection, "state": which.state.value if which.state else ""}
    return {column: value for column, value in asked.items() if value}


def listed_jobs(limit: int) -> int:
    """Return how many jobs are in one answer."""
    return max(0, min(limit, MAX_LISTED_JOBS))


def gone_on_too_late(job: CrawlJob) -> StoreError:
    """Say that a job cannot go on: what it would go on from has gone."""
    return StoreError(
        f"the URLs of job {job.id} have expired; it cannot go on",
        hint="crawl anew, without --resume",
    )


def _create(db: Session, job: CrawlJob) -> None:
    fresh = replace(job, stats=CrawlStats(), batch=JobBatch())
    row = db.row(SQL["create"], ROWS.values(fresh) | running_columns(job))
    if row is None:
        raise StoreError(f"there is a job `{job.id}` already")
    write_step(db, row[0], None, fresh, wall_s=job.created_at_s)


def _begin(db: Session, values: Values, wall_s: float) -> bool:
    db.row(SQL["line_up"], values)
    if db.row(SQL["lock"], values) is None:
        return False
    before = _find(db, str(values["job"]), str(values["tenant"]))
    if db.run(SQL["begin"], values) == 0:
        return False
    _note(db, before, wall_s)
    return True


def _update(db: Session, job: CrawlJob, tenant: str, wall_s: float | None) -> None:
    values = running_columns(job) | {"number": _lock(db, job.id, tenant)}
    before = _find(db, job.id, tenant)
    if before is not None and before.config.regions != job.config.regions:
        db.send(SQL["label_anew"], {"number": values["number"], "regions": values["regions"]})
    if db.run(SQL["update"], values) == 0:
        raise gone_on_too_late(job)
    _note(db, before, wall_s)


def _turn(db: Session, job: CrawlJob, values: Values, wall_s: float | None) -> bool:
    if values["most"]:
        db.row(SQL["line_up"], values)
    tenant = str(values["tenant"])
    number = _lock(db, job.id, tenant)
    before = _find(db, job.id, tenant)
    if db.run(SQL["turn"], {**values, "number": number}) == 0:
        return False
    _note(db, before, wall_s)
    return True


def _lock(db: Session, job: str, tenant: str) -> int:
    """Return a job's number; nobody else changes the job until the commit."""
    row = db.row(SQL["lock"], {"job": job, "tenant": tenant})
    return int(row[0]) if row else number_of(db, job, tenant)


def _find(db: Session, job: str, tenant: str) -> CrawlJob | None:
    row = db.row(SQL["get"], {"id": job, "tenant": tenant})
    return ROWS.read(row) if row else None


def _note(db: Session, before: CrawlJob | None, wall_s: float | None) -> None:
    """Write down what became of a job that was changed just now."""
    assert before is not None, "what was changed was there"
    after = _find(db, before.id, before.tenant)
    assert after is not None, "and still is"
    write_step(db, number_of(db, after.id, after.tenant), before, after, wall_s=wall_s)


def _worked(db: Session, job: str, tenant: str, seconds: float) -> None:
    db.send(SQL["worked"], {"number": number_of(db, job, tenant), "seconds": seconds})


def _delete(db: Session, job: str, tenant: str) -> None:
    number = {"job": number_of(db, job, tenant)}
    for name in _FORGET:
        db.send(SQL[name], number)
    store_bytes(db, tenant, -db.value(SQL["kept_bytes"], number))
    db.send(SQL["forget_captures"], number)
