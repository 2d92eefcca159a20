"""A job's row, to values and back."""

from __future__ import annotations

from typing import Any

from geomi.adapters.store.accounting.budget import budget_of, share_of
from geomi.adapters.store.accounting.hosts import demands_of
from geomi.adapters.store.codec import decode, decode_pairs, decode_strings, encode
from geomi.adapters.store.keys import refuse_long
from geomi.adapters.store.rows import Row, legible
from geomi.errors import StoreError
from geomi.model.config import CrawlConfig
from geomi.model.job import (
    MAX_LISTED_JOBS,
    CrawlJob,
    CrawlStats,
    Expired,
    JobFilter,
    JobState,
    StopReason,
)

DAY_S = 86_400.0


def check_new(job: CrawlJob, tenant: str) -> None:
    """Refuse a job of somebody else, and names that are too long for a key."""
    if job.tenant != tenant:
        raise StoreError(
            f"job `{job.id}` belongs to tenant `{job.tenant}`; this store is open for `{tenant}`"
        )
    for what in ("id", "tenant", "collection"):
        refuse_long(what, getattr(job, what))


def created_columns(job: CrawlJob) -> dict[str, Any]:
    """Return every column of a new job, the counters left out."""
    return running_columns(job) | {
        "id": job.id,
        "tenant": job.tenant,
        "seeds": encode(job.seeds),
        "origins": encode(job.origins),
        "created_at_s": job.created_at_s,
        "active_s": job.active_s,
        "provider": job.provider,
        "crawl": job.crawl,
        "collection": job.collection,
    }


def running_columns(job: CrawlJob) -> dict[str, Any]:
    """Return the columns that change while a job runs, with what claims need of the config."""
    config, demands, budget = job.config, demands_of(job.config), budget_of(job.config)
    return {
        "config": encode(config),
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


def job_of(row: Row) -> CrawlJob:
    """Read a job with its counters."""
    (
        job, tenant, seeds, config, origins, created_at_s,
        state, paused, started_at_s, ended_at_s, active_s, stop, error, provider, crawl,
        collection, expired, *counters,
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
            crawl=crawl,
            expired=Expired(expired),
            collection=collection,
        )
