"""What happened, as values: the one source of every log line, metric and stream message."""

from __future__ import annotations

from dataclasses import dataclass

from geomi.model.verdict import Outcome, State


@dataclass(frozen=True, slots=True)
class JobStarted:
    """A worker began, or went on with, a job."""

    job: str
    seeds: tuple[str, ...]
    resumed: bool


@dataclass(frozen=True, slots=True)
class PageSettled:
    """One visit is committed: the canonical line of a page."""

    job: str
    url: str
    outcome: Outcome
    state: State
    status: int | None
    depth: int
    bytes_received: int
    fetch_ms: int
    links: int
    detail: str = ""


@dataclass(frozen=True, slots=True)
class RobotsFetched:
    """A robots.txt was asked for (ROB-29)."""

    job: str
    host: str
    status: int
    from_cache: bool
    age_s: float
    bytes: int
    detail: str = ""


@dataclass(frozen=True, slots=True)
class RobotsJudged:
    """A robots.txt was applied to a URL (ROB-30); for whoever listens at the level of debugging."""

    job: str
    host: str
    path: str
    decision: str  # ALLOW or DISALLOW
    winner_pattern: str
    match_len: int


@dataclass(frozen=True, slots=True)
class Progressed:
    """How much of a job is known to be left.

    Args:
        pending: URLs that wait.
        left: how many of them its page limit still lets in.
    """

    job: str
    pending: int
    left: int


@dataclass(frozen=True, slots=True)
class Warned:
    """Something a person should know, that did not stop the crawl."""

    job: str
    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class JobEnded:
    """The job took its last page for now."""

    job: str
    state: str
    stop: str
    collected: int
    failed: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Enriched:
    """Some pages of a job were understood: how many can be found now, and how many not."""

    job: str
    indexed: int
    skipped: int
    failed: int


@dataclass(frozen=True, slots=True)
class Measured:
    """What a worker has spent since it last said so; for whoever counts.

    Args:
        claims: seconds that each claim took; `settlements` the same.
        waited_s: for hosts' turns, all hosts together.
        stages: CPU seconds of each stage.
    """

    job: str
    claims: tuple[float, ...]
    settlements: tuple[float, ...]
    waited_s: float
    stages: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Reported:
    """A run of a provider is over: its change report (RPT-01).

    Args:
        provider: its name, as people write it.
        response_ms: how long its hosts take to answer, on average.
    """

    job: str
    provider: str
    total: int
    new: int
    updated: int
    deleted: int
    change_percent: float
    success_percent: float
    response_ms: int
    seconds: float


Event = (
    JobStarted
    | PageSettled
    | RobotsFetched
    | RobotsJudged
    | Progressed
    | Warned
    | JobEnded
    | Enriched
    | Measured
    | Reported
)
