"""The jobs of one tenant; another tenant's job is one that is not there."""

from __future__ import annotations

import builtins
import sqlite3
from functools import partial

from geomi.adapters.ledger.job import (
    created_columns,
    gone_on_too_late,
    job_of,
    running_columns,
    turned_columns,
)
from geomi.adapters.sqlite.connection import Database
from geomi.adapters.statements import statements
from geomi.errors import StoreError, UnknownName
from geomi.model.job import CrawlJob, JobState

SQL = statements("sqlite", "jobs")

_FORGET = tuple(name for name in SQL if name.startswith("forget_"))


class SqliteJobs:
    """`ports.store.Jobs` of one tenant."""

    def __init__(self, database: Database, tenant: str) -> None:
        self._database = database
        self._tenant = tenant

    async def create(self, job: CrawlJob) -> None:
        """Keep a new job."""
        if job.tenant != self._tenant:
            raise StoreError(
                f"job `{job.id}` belongs to tenant `{job.tenant}`; "
                f"this store is open for `{self._tenant}`"
            )
        await self._database.write(partial(_create, job=job))

    async def get(self, job: str) -> CrawlJob | None:
        """Find a job with its counters."""
        with self._database.read() as db:
            row = db.execute(SQL["get"], {"id": job, "tenant": self._tenant}).fetchone()
        return job_of(row) if row else None

    async def list(self, *, limit: int) -> builtins.list[CrawlJob]:
        """List jobs, newest first."""
        with self._database.read() as db:
            values = {"tenant": self._tenant, "many": limit}
            return [job_of(row) for row in db.execute(SQL["list"], values)]

    async def update(self, job: CrawlJob) -> None:
        """Write config, state, flags, times, stop reason and error."""
        await self._database.write(partial(_update, job=job, tenant=self._tenant))

    async def turn(self, job: CrawlJob, *, was: JobState, only_empty: bool = False) -> bool:
        """Write state, times, stop reason and error of a job that is in the state `was`."""
        return await self._database.write(
            partial(_turn, job=job, tenant=self._tenant, was=was, only_empty=only_empty)
        )

    async def active(self, *, limit: int) -> builtins.list[str]:
        """Name the jobs that have begun and are neither paused nor over, oldest first."""
        with self._database.read() as db:
            values = {"tenant": self._tenant, "many": limit}
            return [job for (job,) in db.execute(SQL["active"], values)]

    async def worked(self, job: str, seconds: float) -> None:
        """Add seconds of work to a job, beside whatever else changes it."""
        await self._database.write(partial(_worked, job=job, tenant=self._tenant, seconds=seconds))

    async def delete(self, job: str) -> None:
        """Forget a job, its entries, its captures and its documents."""
        await self._database.write(partial(_delete, job=job, tenant=self._tenant))


def find_number(db: sqlite3.Connection, job: str, tenant: str) -> int | None:
    """Return the number that stands for a job in keys, if there is one."""
    row = db.execute(SQL["number"], (job, tenant)).fetchone()
    return int(row[0]) if row else None


def number_of(db: sqlite3.Connection, job: str, tenant: str) -> int:
    """Return the number that stands for a job in keys."""
    number = find_number(db, job, tenant)
    if number is None:
        raise UnknownName(f"there is no job `{job}`", hint="`geomi jobs` lists what there is")
    return number


def _create(db: sqlite3.Connection, *, job: CrawlJob) -> None:
    try:
        db.execute(SQL["create"], created_columns(job))
    except sqlite3.IntegrityError as error:
        raise StoreError(f"there is a job `{job.id}` already") from error


def _update(db: sqlite3.Connection, *, job: CrawlJob, tenant: str) -> None:
    number = number_of(db, job.id, tenant)
    values = running_columns(job) | {"number": number}
    if db.execute(SQL["update"], values).rowcount == 0:
        raise gone_on_too_late(job)


def _turn(
    db: sqlite3.Connection, *, job: CrawlJob, tenant: str, was: JobState, only_empty: bool
) -> bool:
    values = turned_columns(job) | {"was": was.value, "only_empty": only_empty}
    number = number_of(db, job.id, tenant)
    return db.execute(SQL["turn"], values | {"number": number}).rowcount == 1


def _worked(db: sqlite3.Connection, *, job: str, tenant: str, seconds: float) -> None:
    db.execute(SQL["worked"], {"number": number_of(db, job, tenant), "seconds": seconds})


def _delete(db: sqlite3.Connection, *, job: str, tenant: str) -> None:
    number = number_of(db, job, tenant)
    for name in _FORGET:
        db.execute(SQL[name], (number,))
