"""The jobs of one tenant; another tenant's job is one that is not there."""

from __future__ import annotations

import builtins
from functools import partial

from psycopg import errors

from geomi.adapters.ledger.job import (
    created_columns,
    gone_on_too_late,
    job_of,
    running_columns,
    turned_columns,
)
from geomi.adapters.postgres.connection import Database
from geomi.adapters.postgres.session import Session
from geomi.adapters.statements import statements
from geomi.errors import StoreError, UnknownName
from geomi.model.job import CrawlJob, JobState

SQL = statements("postgres", "jobs")

_FORGET = tuple(name for name in SQL if name.startswith("forget_"))


class PostgresJobs:
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
        values = {"id": job, "tenant": self._tenant}
        row = await self._database.read(lambda db: db.row(SQL["get"], values))
        return job_of(row) if row else None

    async def list(self, *, limit: int) -> builtins.list[CrawlJob]:
        """List jobs, newest first."""
        values = {"tenant": self._tenant, "many": limit}
        rows = await self._database.read(lambda db: db.rows(SQL["list"], values))
        return [job_of(row) for row in rows]

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
        values = {"tenant": self._tenant, "many": limit}
        rows = await self._database.read(lambda db: db.rows(SQL["active"], values))
        return [job for (job,) in rows]

    async def worked(self, job: str, seconds: float) -> None:
        """Add seconds of work to a job, beside whatever else changes it."""
        await self._database.write(partial(_worked, job=job, tenant=self._tenant, seconds=seconds))

    async def delete(self, job: str) -> None:
        """Forget a job, its entries, its captures and its documents."""
        await self._database.write(partial(_delete, job=job, tenant=self._tenant))


def number_of(db: Session, job: str, tenant: str) -> int:
    """Return the number that stands for a job in keys."""
    row = db.row(SQL["number"], {"job": job, "tenant": tenant})
    if row is None:
        raise UnknownName(f"there is no job `{job}`", hint="`geomi jobs` lists what there is")
    return int(row[0])


def _create(db: Session, *, job: CrawlJob) -> None:
    try:
        db.run(SQL["create"], created_columns(job))
    except errors.UniqueViolation as error:
        raise StoreError(f"there is a job `{job.id}` already") from error


def _update(db: Session, *, job: CrawlJob, tenant: str) -> None:
    number = number_of(db, job.id, tenant)
    if db.run(SQL["update"], running_columns(job) | {"number": number}) == 0:
        raise gone_on_too_late(job)


def _turn(db: Session, *, job: CrawlJob, tenant: str, was: JobState, only_empty: bool) -> bool:
    values = turned_columns(job) | {"was": was.value, "only_empty": only_empty}
    number = number_of(db, job.id, tenant)
    return db.run(SQL["turn"], values | {"number": number}) == 1


def _worked(db: Session, *, job: str, tenant: str, seconds: float) -> None:
    db.run(SQL["worked"], {"number": number_of(db, job, tenant), "seconds": seconds})


def _delete(db: Session, *, job: str, tenant: str) -> None:
    number = number_of(db, job, tenant)
    for name in _FORGET:
        db.run(SQL[name], {"job": number})
