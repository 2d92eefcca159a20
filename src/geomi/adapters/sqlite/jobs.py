"""The jobs of one tenant; another tenant's job is one that is not there."""

from __future__ import annotations

import builtins
import sqlite3
from functools import partial
from typing import Any

from geomi.adapters.ledger.host import demands_of
from geomi.adapters.sqlite.codec import decode, decode_pairs, decode_strings, encode
from geomi.adapters.sqlite.connection import Database
from geomi.adapters.sqlite.rows import Row, legible
from geomi.adapters.sqlite.statements import statements
from geomi.errors import StoreError, UnknownName
from geomi.model.config import CrawlConfig
from geomi.model.job import CrawlJob, CrawlStats, JobState, StopReason

SQL = statements("jobs")

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
        return _job_of(row) if row else None

    async def list(self, *, limit: int) -> builtins.list[CrawlJob]:
        """List jobs, newest first."""
        with self._database.read() as db:
            values = {"tenant": self._tenant, "many": limit}
            return [_job_of(row) for row in db.execute(SQL["list"], values)]

    async def update(self, job: CrawlJob) -> None:
        """Write config, state, flags, times, stop reason and error."""
        await self._database.write(partial(_update, job=job, tenant=self._tenant))

    async def worked(self, job: str, seconds: float) -> None:
        """Add seconds of work to a job, beside whatever else changes it."""
        await self._database.write(partial(_worked, job=job, tenant=self._tenant, seconds=seconds))

    async def delete(self, job: str) -> None:
        """Forget a job, its entries and its captures."""
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
    values = _running(job) | {
        "id": job.id,
        "tenant": job.tenant,
        "seeds": encode(job.seeds),
        "origins": encode(job.origins),
        "created_at_s": job.created_at_s,
        "active_s": job.active_s,
        "provider": job.provider,
    }
    try:
        db.execute(SQL["create"], values)
    except sqlite3.IntegrityError as error:
        raise StoreError(f"there is a job `{job.id}` already") from error


def _update(db: sqlite3.Connection, *, job: CrawlJob, tenant: str) -> None:
    number = number_of(db, job.id, tenant)
    db.execute(SQL["update"], _running(job) | {"number": number})


def _worked(db: sqlite3.Connection, *, job: str, tenant: str, seconds: float) -> None:
    db.execute(SQL["worked"], {"number": number_of(db, job, tenant), "seconds": seconds})


def _delete(db: sqlite3.Connection, *, job: str, tenant: str) -> None:
    number = number_of(db, job, tenant)
    for name in _FORGET:
        db.execute(SQL[name], (number,))


def _running(job: CrawlJob) -> dict[str, Any]:
    """Return the columns that change while a job runs, with what claims need of the config."""
    config, demands = job.config, demands_of(job.config)
    return {
        "config": encode(config),
        "delay_s": demands.floor_s,
        "crawl_delay_cap_s": demands.cap_s,
        "max_pages": config.limits.max_pages,
        "max_hosts": config.politeness.max_hosts,
        "per_ip": config.politeness.per_ip,
        "state": job.state.value,
        "paused": int(job.paused),
        "started_at_s": job.started_at_s,
        "ended_at_s": job.ended_at_s,
        "stop": job.stop.value if job.stop else None,
        "error": job.error,
        "is_active": int(not job.paused and not job.state.is_final),
    }


def _job_of(row: Row) -> CrawlJob:
    (
        job, tenant, seeds, config, origins, created_at_s,
        state, paused, started_at_s, ended_at_s, active_s, stop, error, provider,
        *counters,
    ) = row  # fmt: skip
    with legible("jobs", job):
        return CrawlJob(
            id=job,
            tenant=tenant,
            seeds=decode_strings(seeds),
            config=decode(CrawlConfig, config),
            state=JobState(state),
            created_at_s=created_at_s,
            paused=bool(paused),
            started_at_s=started_at_s,
            ended_at_s=ended_at_s,
            active_s=active_s,
            stop=StopReason(stop) if stop else None,
            error=error,
            stats=CrawlStats(*counters),
            origins=decode_pairs(origins),
            provider=provider,
        )
