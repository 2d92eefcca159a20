"""Events: every log line, metric and stream message is made from one of these values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from geomi.model.dataset.seed import ErrorType
from geomi.model.verdict import Outcome, State


@dataclass(frozen=True, slots=True)
class JobStarted:
    """A worker started or resumed a job."""

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
    """A robots.txt was applied to a URL (ROB-30); an event for debugging."""

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
    """What a worker has spent since its last such event; for metrics.

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
        response_ms: how long its pages took to answer, on average; robots.txt does not count.
        chunks: what is measured of its chunks, by the names of the measures; empty where no page
            was cut into chunks.
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
    chunks: Mapping[str, float | None] = field(default_factory=dict)


# Of the seed engine; each has the sentence of the catalogue for logs (SED-20, SED-23, SED-25).


@dataclass(frozen=True, slots=True)
class SeedFileDone:
    """A raw file is processed: its domains wait for the collector."""

    file: str
    domains: int
    rejected: int
    ms: int

    @property
    def sentence(self) -> str:
        """What happened, in words."""
        return f"Processed {self.file}: {self.domains} domains"


@dataclass(frozen=True, slots=True)
class SeedSkipped:
    """A raw file or a domain has its checkpoint already: nothing was done."""

    name: str

    @property
    def sentence(self) -> str:
        """What happened, in words."""
        return f"Already processed, skipping: {self.name}"


@dataclass(frozen=True, slots=True)
class SeedFailed:
    """Work on a raw file or a domain failed.

    Args:
        task: the raw file, or where the contract of the domain would be.
        is_dead: whether it failed for good.
    """

    queue: str
    task: str
    error_type: ErrorType
    message: str
    is_dead: bool

    @property
    def sentence(self) -> str:
        """What happened, in words."""
        if self.task.startswith("raw/"):
            return f"Seed processing failed: {self.task}"
        return f"Domain processing failed: {self.task.rpartition('/')[2]}"


@dataclass(frozen=True, slots=True)
class SeedDomainDone:
    """The contract of a domain is written.

    Args:
        urls: that it holds, those of earlier raw files counted in.
        robots, sitemap: whether one was found.
    """

    domain: str
    urls: int
    robots: bool
    sitemap: bool
    ms: int

    @property
    def sentence(self) -> str:
        """What happened, in words."""
        return f"Domain processed: {self.domain} ({self.urls} URLs)"


@dataclass(frozen=True, slots=True)
class SeedSendFailed:
    """A raw file could not be sent to its queue; the others were tried all the same."""

    key: str
    message: str

    @property
    def sentence(self) -> str:
        """What happened, in words."""
        return f"Queue send failed: {self.key}"


SeedEvent = SeedFileDone | SeedSkipped | SeedFailed | SeedDomainDone | SeedSendFailed

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
    | SeedEvent
)
