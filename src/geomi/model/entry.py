"""The values of the frontier: entries, discovered URLs, leases and settlements.

`UrlHash` is the first 16 bytes of the SHA-256 of `url_key`; only the API shows the full hash.
`host` is always `name:port`, the unit of politeness and of a claim.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from geomi.model.history import HistoryUpdate, PageCursor
from geomi.model.page import NO_TEMPLATE, PageRecord, Template
from geomi.model.request_log import SentRequest
from geomi.model.site import Refusal
from geomi.model.verdict import Exclusion, Outcome, State

MAX_ENTRIES = 1000  # in one answer
MAX_LOOKED_AT = 5000  # for one answer: SQLite takes 5 ms for them, while nobody else is served

UrlHash = bytes
Target = tuple[str, UrlHash]  # the host and the identity of a URL that a page links to


class Source(StrEnum):
    """How a URL became known (FRN-12)."""

    SEED = "seed"
    SITEMAP = "sitemap"
    LINK = "link"
    REVISIT = "revisit"  # a page that is here already, put back by a recrawl


class EntryKind(StrEnum):
    """What is expected behind a URL: a page to keep, or a list of URLs to read."""

    PAGE = "page"
    SITEMAP = "sitemap"
    LISTING = "listing"  # /llms.txt


@dataclass(frozen=True, slots=True)
class Tally:
    """What the URLs of one pattern on one host have brought so far (TRP-02, TRP-04, TRP-05).

    Args:
        stale_links: visits in a row that found no new place outside the pattern.
        stale_text: visits in a row whose text, numbers aside, was known already.
        text_mark: digest of the last text, numbers aside.
        stale_growth: visits in a row since a page of its kind led to a new URL of the pattern.
    """

    visited: int = 0
    stale_links: int = 0
    stale_text: int = 0
    text_mark: bytes = b""
    stale_growth: int = 0


@dataclass(frozen=True, slots=True)
class Novelty:
    """What one visit of a counted pattern brought.

    Args:
        kin: patterns of the same kind that it found URLs of; only the store knows what is new.
        setback: how many stale visits new links take back; 0 for all of them.
    """

    links: bool
    text: bool
    text_mark: bytes
    kin: frozenset[str] = frozenset()
    setback: int = 0


@dataclass(frozen=True, slots=True)
class Discovered:
    """A URL that every rule let in; the store's unique key decides whether it is new.

    Args:
        parent: the page it was found on.
        origin: the URL first asked for, where this one is the target of redirects.
        hops: how many redirects lie between `origin` and this URL.
        nesting: how many sitemaps lie above this one.
        pattern: name of the endless space this URL may belong to; empty for most.
        lastmod_s: when a sitemap says that it changed last (wall clock).
    """

    url_hash: UrlHash
    url: str
    host: str
    depth: int
    priority: int
    source: Source
    kind: EntryKind = EntryKind.PAGE
    parent: str | None = None
    origin: str | None = None
    hops: int = 0
    nesting: int = 0
    pattern: str = ""
    lastmod_s: float | None = None


@dataclass(frozen=True, slots=True)
class UrlEntry:
    """One URL in one job, as the frontier keeps it.

    Args:
        settled_s: when its last visit ended, be it that the URL is tried again.
        media_type, body_bytes: of the last answer; None where there was none.
        tally: what its pattern had brought by the time of the claim.
        is_known: whether the tenant may have met the URL by then: has a page or a refusal of it.
        deaths: how many processes had died by then while they had it in hand.
    """

    job: str
    url_hash: UrlHash
    url: str
    host: str
    depth: int
    priority: int
    source: Source
    kind: EntryKind
    parent: str | None
    origin: str | None
    hops: int
    state: State
    attempts: int
    due_s: float
    discovered_s: float
    settled_s: float | None = None
    outcome: Outcome | None = None
    status: int | None = None
    detail: str = ""
    media_type: str | None = None
    body_bytes: int | None = None
    nesting: int = 0
    pattern: str = ""
    lastmod_s: float | None = None
    tally: Tally = Tally()
    is_known: bool = True
    deaths: int = 0


@dataclass(frozen=True, slots=True)
class HostState:
    """What is remembered of a host, whichever job or tenant asked.

    Args:
        last_end_s: when the last response of this host ended; 0 if it was never asked.
        crawl_delay_s: what its robots.txt asks for, before any cap.
        backoff_s: the extra wait that errors earned; 0 when the host is well.
        latency_s: smoothed time to answer.
        ip: the address it was last reached at; None before the first resolve.
        template: what its pages repeat.
    """

    host: str
    last_end_s: float = 0.0
    crawl_delay_s: float | None = None
    backoff_s: float = 0.0
    errors: int = 0
    latency_s: float = 0.0
    ip: str | None = None
    template: Template = NO_TEMPLATE


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to ask one host, alone, until `until_s`; `token` fences off a lease that was lost.

    Args:
        floor_s: the longest delay among the active jobs of this host.
    """

    host: str
    job: str
    token: int
    until_s: float
    floor_s: float
    state: HostState
    entries: tuple[UrlEntry, ...] = ()


@dataclass(frozen=True, slots=True)
class AnswerTimes:
    """How many requests for pages were answered, and how long that took, all together (MON-03)."""

    answers: int = 0
    seconds: float = 0.0

    def plus(self, other: AnswerTimes) -> AnswerTimes:
        """Add those of other requests."""
        return AnswerTimes(self.answers + other.answers, self.seconds + other.seconds)


NO_ANSWERS = AnswerTimes()


@dataclass(frozen=True, slots=True)
class ResponseTimes:
    """How long pages of a job took to answer, on average; its hosts have smoothed times besides.

    Args:
        mean_s: over all its requests for pages; None before the first answer.
        slowest: the mean of each of its slowest hosts, the slowest first.
    """

    mean_s: float | None
    slowest: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Settlement:
    """Everything that closing one visit changes, committed in one transaction.

    Args:
        state: where the entry goes; `PENDING` means that it is tried again at `due_s`.
        counts: whether this visit counts for `max_pages`.
        page: what is kept, if anything was.
        asked: the requests it took; logged even where the lease was lost, because they happened.
        novelty: what it brought, where its pattern is counted.
        refusal: a URL to leave alone from now on.
        endorsed: what the page links to, known or new, where the job's order asks for it.
        learned: what a visit of a known page adds to its history.
        media_type: of the answer, without parameters; `body_bytes` are the bytes of its
            body, by what its head says where the body was not read.
        answers: of its requests for pages, robots.txt left out.
    """

    entry: UrlEntry
    token: int
    outcome: Outcome
    state: State
    settled_s: float
    due_s: float = 0.0
    status: int | None = None
    detail: str = ""
    counts: bool = False
    bytes_received: int = 0
    requests: int = 1
    discovered: tuple[Discovered, ...] = ()
    excluded: tuple[Exclusion, ...] = ()
    page: PageRecord | None = None
    asked: tuple[SentRequest, ...] = ()
    novelty: Novelty | None = None
    refusal: Refusal | None = None
    endorsed: tuple[Target, ...] = ()
    learned: HistoryUpdate | None = None
    media_type: str | None = None
    body_bytes: int | None = None
    answers: AnswerTimes = NO_ANSWERS


@dataclass(frozen=True, slots=True)
class RequestCap:
    """How many requests may be sent in any hour and day; 0 is no limit.

    Args:
        domain: the registrable domain whose requests are counted; empty for all together.
    """

    domain: str
    per_hour: int = 0
    per_day: int = 0

    @property
    def is_binding(self) -> bool:
        """Whether anything has to be counted for it."""
        return bool(self.per_hour or self.per_day)


@dataclass(frozen=True, slots=True)
class HostUpdate:
    """A host's politeness after some visits; with `next_s` it is free again then.

    Args:
        asked: requests that belong to no settlement.
    """

    lease: Lease
    state: HostState
    next_s: float | None = None
    asked: tuple[SentRequest, ...] = ()


@dataclass(frozen=True, slots=True)
class Batch:
    """What one transaction closes: visits, and the hosts they were paid to.

    Args:
        wall_s: the time of day, by which visits count for the tenant's quota of that day; it does
            not matter where there are none.
    """

    settlements: tuple[Settlement, ...] = ()
    hosts: tuple[HostUpdate, ...] = ()
    wall_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Settled:
    """What a batch did.

    Args:
        lost: hosts whose lease was no longer ours; nothing of theirs was written.
        new_urls: how many discovered URLs were not known before.
        left_out: those that are not there because too many wait already.
    """

    lost: tuple[str, ...] = ()
    new_urls: int = 0
    left_out: frozenset[UrlHash] = frozenset()


@dataclass(frozen=True, slots=True)
class WaitingRegion:
    """What waits of a job for workers of some regions; for any worker where none is named."""

    regions: tuple[str, ...]
    hosts: int
    urls: int


@dataclass(frozen=True, slots=True)
class RemainingWork:
    """What is left of a job: enough to decide whether to wait, and until when."""

    pending: int
    leased: int
    next_s: float | None
    by_state: dict[State, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class EntryFilter:
    """Which entries of a job are meant; an empty value is no condition.

    Args:
        prefix: what their URLs begin with.
    """

    state: State | None = None
    outcome: Outcome | None = None
    prefix: str = ""


@dataclass(frozen=True, slots=True)
class EntryPage:
    """Some entries of a job.

    Args:
        after: where to go on; None at the end. Only so many entries are looked at for one answer,
            so that it may hold few, or none, and yet not be the last.
    """

    entries: tuple[UrlEntry, ...] = ()
    after: PageCursor | None = None
