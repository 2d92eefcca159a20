"""The event that tells how a job ended."""

from __future__ import annotations

from geomi.model.event import JobEnded
from geomi.model.job import CrawlJob, StopReason


def ended_event(job: CrawlJob, stop: StopReason, seconds: float) -> JobEnded:
    """Tell of a job as it stands when it takes no more pages."""
    return JobEnded(
        job=job.id,
        state=job.state,
        stop=stop,
        collected=job.stats.collected,
        failed=job.stats.failed,
        seconds=round(seconds, 3),
    )
