"""A crawl job: its states, the legal steps between them, its counters and its journal.

The journal has every step of a job. The service's streams and webhooks read it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from geomi.model.config import CrawlConfig
from geomi.model.site import Channel

MAX_LISTED_JOBS = 1000  # in one answer
MAX_LISTED_EVENTS = 1000  # in one answer
MAX_NOTE_CHARS = 2000  # of why a watched crawl is not visited again
# The kind of an event that says that a job's state, its pause or its stop has changed.
STATE_EVENT = "state"
DEFAULT_PROFILE = "default"
SESSION = "session"  # the origin of settings that a session over several providers decides


class JobState(StrEnum):
    """The eight states of WF-01; pausing is a flag beside them (G-28)."""

    PENDING = "pending"
    INITIALIZING = "initializing"
    DISCOVERING = "discovering"
    PROCESSING = "processing"
    FINALIZING = "finalizing"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_final(self) -> bool:
        """Whether the job is over; a raised limit may resume a job that the limit ended."""
        return self in (JobState.COMPLETED, JobState.FAILED, JobState.CANCELLED)


# A job that has begun and is not over has one of its tenant's places.
BEGUN = (
    JobState.INITIALIZING,
    JobState.DISCOVERING,
    JobState.PROCESSING,
    JobState.FINALIZING,
)
_ENDS = frozenset({JobState.FAILED, JobState.CANCELLED})
STEPS: dict[JobState, frozenset[JobState]] = {
    JobState.PENDING: _ENDS | {JobState.INITIALIZING},
    JobState.INITIALIZING: _ENDS | {JobState.DISCOVERING},
    JobState.DISCOVERING: _ENDS | {JobState.PROCESSING, JobState.FINALIZING},
    JobState.PROCESSING: _ENDS | {JobState.FINALIZING},
    JobState.FINALIZING: _ENDS | {JobState.COMPLETED, JobState.PROCESSING},
    JobState.COMPLETED: frozenset({JobState.PROCESSING}),
    JobState.FAILED: frozenset(),
    JobState.CANCELLED: frozenset(),
}


class JobKind(StrEnum):
    """The kind of a job: the first of a crawl, or a recrawl."""

    CRAWL = "crawl"
    RECRAWL = "recrawl"


class StopReason(StrEnum):
    """Why a job took no more pages."""

    DONE = "done"
    MAX_PAGES = "max_pages"
    MAX_TIME = "max_time"
    MAX_BYTES = "max_bytes"
    DAILY_QUOTA = "daily_quota"
    STORAGE_QUOTA = "storage_quota"
    CANCELLED = "cancelled"
    DISK_FULL = "disk_full"
    INTERRUPTED = "interrupted"
    NO_REGION = "no_region"  # what is left needs workers of a region where none is
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class JobFilter:
    """Which jobs are meant; an empty value is no condition."""

    collection: str = ""
    state: JobState | None = None


class Expired(StrEnum):
    """What has gone of a job because its time was over; what is going is never used again."""

    NOTHING = ""
    URLS_GOING = "urls_going"
    URLS = "urls"
    JOB_GOING = "job_going"


@dataclass(frozen=True, slots=True)
class CrawlStats:
    """A job's counters, kept in the transaction that changes what they count."""

    discovered: int = 0
    settled: int = 0  # visits that count for max_pages
    collected: int = 0  # pages kept
    failed: int = 0
    skipped: int = 0
    blocked: int = 0
    redirected: int = 0
    duplicates: int = 0
    poisoned: int = 0  # of those that failed: whatever reads them dies of them
    retries: int = 0
    requests: int = 0
    bytes_received: int = 0


@dataclass(frozen=True, slots=True)
class JobBatch:
    """The URLs of a job that are worked on before it pauses (JOB-10, POL-09).

    Args:
        number: counts the job's batches from 1; 0: it has none, and no limit.
        size: how many URLs waited when the batch began.
        end: how many URLs of the job have ended when it is over.
        failed: how many had failed, for no fault of ours, when it began.
        ready_s: when it begins (scheduling time).
    """

    number: int = 0
    size: int = 0
    end: int = 0
    failed: int = 0
    ready_s: float = 0.0


@dataclass(frozen=True, slots=True)
class CrawlJob:
    """One run of a crawl.

    Args:
        origins: where each changed setting came from, by the setting's dotted name; nothing else. A
            limit from `SESSION` is what a session over several providers had left.
        active_s: seconds this job has worked so far, so that `max_time` survives a restart.
        provider: key of the provider it was started for, if any.
        crawl: the first job of the crawl that a recrawl visits again; empty for a first job.
        collection: what the service's users find its pages in; empty for the command line's jobs.
        expired: what was kept for a time and has gone.
        channel: by which way its documents come.
        channel_why: why a provider's pages are crawled, where its documents might come ready.
        library: the id of the library whose documents it collects; empty for a crawl of pages.
        library_name: what the documents of this library are titled with.
        profile: the profile whose ranges its settings keep, after a resume too.
        network: the flags that allowed its process more of the network; a resume needs them.
        archive: the bucket that its bytes are in; empty for its data directory.
        directory: the id of its data directory, where a database may have jobs of several.
        batch: the URLs that may be worked on now, where its settings ask for batches.
        next_look_s: when somebody looks which of its pages are due (wall clock), if it is watched
            and over; None: not before a person says so.
        watch_note: why its pages are not visited again, where it is watched.
    """

    id: str
    tenant: str
    seeds: tuple[str, ...]
    config: CrawlConfig
    state: JobState
    created_at_s: float
    paused: bool = False
    started_at_s: float | None = None
    ended_at_s: float | None = None
    active_s: float = 0.0
    stop: StopReason | None = None
    error: str = ""
    stats: CrawlStats = field(default_factory=CrawlStats)
    origins: tuple[tuple[str, str], ...] = ()
    provider: str = ""
    crawl: str = ""
    expired: Expired = Expired.NOTHING
    collection: str = ""
    kind: JobKind = JobKind.CRAWL
    channel: Channel = Channel.CRAWL
    channel_why: str = ""
    library: str = ""
    library_name: str = ""
    profile: str = DEFAULT_PROFILE
    network: tuple[str, ...] = ()
    archive: str = ""
    directory: str = ""
    batch: JobBatch = JobBatch()
    next_look_s: float | None = 0.0
    watch_note: str = ""

    @property
    def has_session_limit(self) -> bool:
        """Whether its limit of pages is what a session over several providers had left for it."""
        return ("limits.max_pages", SESSION) in self.origins

    @property
    def is_watched(self) -> bool:
        """Whether its pages are kept fresh; a provider's are by the sessions of all providers."""
        return self.kind is JobKind.CRAWL and not self.provider and self.config.is_watched


@dataclass(frozen=True, slots=True)
class Commission:
    """For whom a job is, and what holds for it from its start to its end, recrawls included.

    The fields are those of the job.

    Args:
        collection: where a service puts its documents; empty for a job of the command line.
        id: the job's name, where it was given before there was a job; empty for a new one.
    """

    tenant: str
    origins: tuple[tuple[str, str], ...] = ()
    provider: str = ""
    collection: str = ""
    id: str = ""
    channel: Channel = Channel.CRAWL
    channel_why: str = ""
    library: str = ""
    library_name: str = ""
    profile: str = DEFAULT_PROFILE
    network: tuple[str, ...] = ()
    archive: str = ""
    directory: str = ""


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
