"""The jobs of one tenant; another tenant's job is one that is not there."""

from __future__ import annotations

import builtins
import sqlite3
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from geomi.adapters.store.sqlite.connection import SqliteDatabase, SqliteSession
from geomi.adapters.store.sqlite.journal import write_step
from geomi.adapters.store.sqlite.quotas import store_bytes
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

SQL = statements("store.sqlite", "jobs")

_FORGET = tuple(name for name in SQL if name.startswith("forget_"))


class SqliteJobs:
    """`ports.store.Jobs` of one tenant."""

    def __init__(self, database: SqliteDatabase, tenant: str) -> None:
        self._database = database
        self._tenant = tenant

    async def create(self, job: CrawlJob) -> None:
        """Keep a new job."""
        check_new(job, self._tenant)
        await self._database.write(partial(_create, job=job))

    async def get(self, job: str) -> CrawlJob | None:
        """Find a job with its counters."""
        with self._database.reading() as db:
            return _find(db, job, self._tenant)

    async def list(self, *, limit: int) -> builtins.list[CrawlJob]:
        """List jobs, newest first."""
        with self._database.reading() as db:
            values = {"tenant": self._tenant, "many": limit}
            return [job_of(row) for row in db.execute(SQL["list"], values)]

    async def page(
        self, which: JobFilter, *, before: str = "", limit: int
    ) -> builtins.list[CrawlJob]:
        """List jobs by their ids, newest first."""
        values = {"tenant": self._tenant, "before": before, "many": listed_jobs(limit)}
        values |= meant_columns(which)
        with self._database.reading() as db:
            return [job_of(row) for row in db.execute(_page(which, before), values)]

    async def counts(self) -> dict[JobState, int]:
        """Count jobs by state."""
        with self._database.reading() as db:
            rows = db.execute(SQL["counts"], {"tenant": self._tenant})
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


def find_number(db: SqliteSession, job: str, tenant: str) -> int | None:
    """Return the number that stands for a job in keys, if there is one."""
    row = db.execute(SQL["number"], (job, tenant)).fetchone()
    return int(row[0]) if row else None


def number_of(db: SqliteSession, job: str, tenant: str) -> int:
    """Return the number that stands for a job in keys."""
    number = find_number(db, job, tenant)
    if number is None:
        raise UnknownName(f"there is no job `{job}`", hint="`geomi jobs` lists what there is")
    return number


def _page(which: JobFilter, before: str) -> str:
    """Return a statement with nothing but the conditions of a filter, so that it has its index."""
    asked = [f"AND {column} = :{column}" for column in meant_columns(which)]
    asked += ["AND id < :before"] if before else []
    return SQL["page"].replace("/* conditions */", " ".join(asked))


def _begin(db: SqliteSession, *, job: str, tenant: str, most: int, wall_s: float) -> bool:
    before = _find(db, job, tenant)
    values = {"job": job, "tenant": tenant, "most": most, "wall_s": wall_s}
    if before is None or db.execute(SQL["begin"], values).rowcount == 0:
        return False
    _note(db, before, wall_s)
    return True


def _create(db: SqliteSession, *, job: CrawlJob) -> None:
    try:
        number = db.execute(SQL["create"], created_columns(job)).lastrowid
    except sqlite3.IntegrityError as error:
        raise StoreError(f"there is a job `{job.id}` already") from error
    assert number is not None, "an INSERT has a row"
    write_step(db, number, None, replace(job, stats=CrawlStats()), wall_s=job.created_at_s)


def _update(db: SqliteSession, *, job: CrawlJob, tenant: str, wall_s: float | None) -> None:
    values = running_columns(job) | {"number": number_of(db, job.id, tenant)}
    before = _find(db, job.id, tenant)
    if db.execute(SQL["update"], values).rowcount == 0:
        raise gone_on_too_late(job)
    _note(db, before, wall_s)


def _turn(
    db: SqliteSession,
    *,
    job: CrawlJob,
    tenant: str,
    values: Mapping[str, object],
    wall_s: float | None,
) -> bool:
    own = {"number": number_of(db, job.id, tenant), "tenant": tenant}
    before = _find(db, job.id, tenant)
    if db.execute(SQL["turn"], {**values, **own}).rowcount == 0:
        return False
    _note(db, before, wall_s)
    return True


def _find(db: SqliteSession, job: str, tenant: str) -> CrawlJob | None:
    row = db.execute(SQL["get"], {"id": job, "tenant": tenant}).fetchone()
    return job_of(row) if row else None


def _note(db: SqliteSession, before: CrawlJob | None, wall_s: float | None) -> None:
    """Write down what became of a job that was changed just now."""
    assert before is not None, "what was changed was there"
    after = _find(db, before.id, before.tenant)
    assert after is not None, "and still is"
    write_step(db, number_of(db, after.id, after.tenant), before, after, wall_s=wall_s)


def _worked(db: SqliteSession, *, job: str, tenant: str, seconds: float) -> None:
    db.execute(SQL["worked"], {"number": number_of(db, job, tenant), "seconds": seconds})


def _delete(db: SqliteSession, *, job: str, tenant: str) -> None:
    number = number_of(db, job, tenant)
    (kept_bytes,) = db.execute(SQL["kept_bytes"], (number,)).fetchone()
    store_bytes(db, tenant, -kept_bytes)
    for name in _FORGET:
        db.execute(SQL[name], (number,))
