"""The jobs of one tenant; another tenant's job is one that is not there."""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from psycopg import errors

from geomi.adapters.store.postgres.connection import PostgresDatabase
from geomi.adapters.store.postgres.journal import write_step
from geomi.adapters.store.postgres.quotas import give_back
from geomi.adapters.store.postgres.session import PostgresSession
from geomi.adapters.store.statements import statements
from geomi.adapters.store.tables.jobs import (
    check_new,
    created_columns,
    gone_on_too_late,
    job_of,
    listed_jobs,
    meant_columns,
    running_columns,
    turned_columns,
)
from geomi.errors import StoreError, UnknownName
from geomi.model.job import CrawlJob, CrawlStats, JobFilter, JobState

SQL = statements("store.postgres", "jobs")

_FORGET = tuple(name for name in SQL if name.startswith("forget_"))


class PostgresJobs:
    """`ports.store.Jobs` of one tenant."""

    def __init__(self, database: PostgresDatabase, tenant: str) -> None:
        self._database = database
        self._tenant = tenant

    async def create(self, job: CrawlJob) -> None:
        """Keep a new job."""
        check_new(job, self._tenant)
        await self._database.write(partial(_create, job=job))

    async def get(self, job: str) -> CrawlJob | None:
        """Find a job with its counters."""
        return await self._database.read(lambda db: _find(db, job, self._tenant))

    async def list(self, *, limit: int) -> builtins.list[CrawlJob]:
        """List jobs, newest first."""
        values = {"tenant": self._tenant, "many": limit}
        rows = await self._database.read(lambda db: db.rows(SQL["list"], values))
        return [job_of(row) for row in rows]

    async def page(
        self, which: JobFilter, *, before: str = "", limit: int
    ) -> builtins.list[CrawlJob]:
        """List jobs by their ids, newest first."""
        values = {"tenant": self._tenant, "before": before, "many": listed_jobs(limit)}
        values |= meant_columns(which)
        statement = _page(which, before)
        rows = await self._database.read(lambda db: db.rows(statement, values))
        return [job_of(row) for row in rows]

    async def counts(self) -> dict[JobState, int]:
        """Count jobs by state."""
        values = {"tenant": self._tenant}
        rows = await self._database.read(lambda db: db.rows(SQL["counts"], values))
        return {JobState(state): many for state, many in rows}

    async def begin(self, job: str, *, most: int, wall_s: float) -> bool:
        """Let a job that is pending begin, where fewer than `most` of its tenant's have begun."""
        return await self._database.write(
            partial(_begin, job=job, tenant=self._tenant, most=most, wall_s=wall_s)
        )

    async def update(self, job: CrawlJob, *, wall_s: float | None = None) -> None:
        """Write config, state, flags, times, stop reason and error."""
        await self._database.write(partial(_update, job=job, tenant=self._tenant, wall_s=wall_s))

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
        values = turned_columns(job) | {"was": was.value, "only_empty": only_empty, "most": most}
        return await self._database.write(
            partial(_turn, job=job, tenant=self._tenant, values=values, wall_s=wall_s)
        )

    async def worked(self, job: str, seconds: float) -> None:
        """Add seconds of work to a job, beside whatever else changes it."""
        await self._database.write(partial(_worked, job=job, tenant=self._tenant, seconds=seconds))

    async def delete(self, job: str) -> None:
        """Forget a job, its entries, its captures, its documents and its journal."""
        await self._database.write(partial(_delete, job=job, tenant=self._tenant))


def number_of(db: PostgresSession, job: str, tenant: str) -> int:
    """Return the number that stands for a job in keys."""
    row = db.row(SQL["number"], {"job": job, "tenant": tenant})
    if row is None:
        raise UnknownName(f"there is no job `{job}`", hint="`geomi jobs` lists what there is")
    return int(row[0])


def _page(which: JobFilter, before: str) -> str:
    """Return a statement with nothing but the conditions of a filter, so that it has its index."""
    asked = [f"AND {column} = %({column})s" for column in meant_columns(which)]
    asked += ["AND id < %(before)s"] if before else []
    return SQL["page"].replace("/* conditions */", " ".join(asked))


def _begin(db: PostgresSession, *, job: str, tenant: str, most: int, wall_s: float) -> bool:
    values = {"job": job, "tenant": tenant, "most": most, "wall_s": wall_s}
    db.row(SQL["line_up"], values)
    if db.row(SQL["lock"], values) is None:
        return False
    before = _find(db, job, tenant)
    if db.run(SQL["begin"], values) == 0:
        return False
    _note(db, before, wall_s)
    return True


def _create(db: PostgresSession, *, job: CrawlJob) -> None:
    try:
        number = db.value(SQL["create"], created_columns(job))
    except errors.UniqueViolation as error:
        raise StoreError(f"there is a job `{job.id}` already") from error
    write_step(db, number, None, replace(job, stats=CrawlStats()), wall_s=job.created_at_s)


def _update(db: PostgresSession, *, job: CrawlJob, tenant: str, wall_s: float | None) -> None:
    values = running_columns(job) | {"number": _lock(db, job.id, tenant)}
    before = _find(db, job.id, tenant)
    if db.run(SQL["update"], values) == 0:
        raise gone_on_too_late(job)
    _note(db, before, wall_s)


def _turn(
    db: PostgresSession,
    *,
    job: CrawlJob,
    tenant: str,
    values: Mapping[str, object],
    wall_s: float | None,
) -> bool:
    if values["most"]:
        db.row(SQL["line_up"], {"tenant": tenant})
    own = {"number": _lock(db, job.id, tenant), "tenant": tenant}
    before = _find(db, job.id, tenant)
    if db.run(SQL["turn"], {**values, **own}) == 0:
        return False
    _note(db, before, wall_s)
    return True


def _lock(db: PostgresSession, job: str, tenant: str) -> int:
    """Return a job's number; nobody else changes the job until the commit."""
    row = db.row(SQL["lock"], {"job": job, "tenant": tenant})
    return int(row[0]) if row else number_of(db, job, tenant)


def _find(db: PostgresSession, job: str, tenant: str) -> CrawlJob | None:
    row = db.row(SQL["get"], {"id": job, "tenant": tenant})
    return job_of(row) if row else None


def _note(db: PostgresSession, before: CrawlJob | None, wall_s: float | None) -> None:
    """Write down what became of a job that was changed just now."""
    assert before is not None, "what was changed was there"
    after = _find(db, before.id, before.tenant)
    assert after is not None, "and still is"
    write_step(db, number_of(db, after.id, after.tenant), before, after, wall_s=wall_s)


def _worked(db: PostgresSession, *, job: str, tenant: str, seconds: float) -> None:
    db.run(SQL["worked"], {"number": number_of(db, job, tenant), "seconds": seconds})


def _delete(db: PostgresSession, *, job: str, tenant: str) -> None:
    number = number_of(db, job, tenant)
    for name in _FORGET:
        db.run(SQL[name], {"job": number})
    give_back(db, {tenant: db.value(SQL["let_captures_go"], {"job": number})})
