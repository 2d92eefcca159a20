"""What became of a job, step by step, for whoever follows it or has to be told."""

from __future__ import annotations

from dataclasses import dataclass

MAX_EVENTS = 1000  # in one answer

# The kind of an event that says that a job's state, its pause or its stop has changed.
STATE = "state"


@dataclass(frozen=True, slots=True)
class JobEvent:
    """One step of one job.

    Args:
        n: counts the steps of the job, from 1 and without a gap.
        body: JSON; of a step of kind `state` the job's `state`, `paused`, `stop`, `error`, `crawl`,
            `collection` and `stats` as they were then.
        at_s: wall clock.
    """

    tenant: str
    job: str
    n: int
    kind: str
    body: str
    at_s: float
