"""A step of a job, as all stores write it down."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

from geomi.adapters.store.rows import Row
from geomi.adapters.store.tables.named_values import check_named_value
from geomi.errors import StoreError
from geomi.model.job import MAX_LISTED_EVENTS, STATE_EVENT, CrawlJob, JobEvent
from geomi.model.named_value import MAX_LISTED_VALUES, NamedValue

MAX_ERROR_CHARS = 2000  # the job's own row has all of it


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


def event_of(row: Row) -> JobEvent:
    """Read an event."""
    return JobEvent(*row)


def event_values(event: JobEvent) -> dict[str, object]:
    """Write an event; whose it is, and which one, the store knows."""
    return {"kind": event.kind, "body": event.body, "at_s": float(event.at_s)}


def listed_events(limit: int) -> int:
    """Return how many events are in one answer."""
    return max(0, min(limit, MAX_LISTED_EVENTS))


def check_named_values(slips: Sequence[NamedValue]) -> None:
    """Refuse what cannot be put into drawers at once."""
    if len(slips) > MAX_LISTED_VALUES:
        raise StoreError(f"an event has {len(slips):,} slips; the limit is {MAX_LISTED_VALUES:,}")
    for slip in slips:
        check_named_value(slip)


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
