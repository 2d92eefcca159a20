"""Facts about a site: blocked URLs and domains, decisions of people, quality, how to sign in."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated

from annotated_types import Ge, Le, Len

from geomi.model.verdict import Outcome

# Ownership can end: the proof holds for a day. A site that did not give it is asked again sooner.
PROOF_S = 86_400.0
TRY_AGAIN_S = 600.0


@dataclass(frozen=True, slots=True)
class Refusal:
    """A URL that is left alone because its site said no (ERR-04, C-91).

    Args:
        since_s, until_s: wall clock; None is for good.
    """

    url_hash: bytes
    url: str
    status: int
    reason: str
    since_s: float
    until_s: float | None = None


@dataclass(frozen=True, slots=True)
class DomainList:
    """A list of domains that somebody else keeps and no crawl visits (SCP-07).

    Args:
        source: the URL or the path of a file that it is read from.
        edition: a number that grows with each change of what the list names.
        tried_s: when a process last began to read it (wall clock).
        read_s: when it was last known to be as it is now at its source (wall clock).
        answered_url: the URL that gave it, with the tag and the date that its next request sends.
        problem: why the last refresh failed; empty if it did not.
    """

    name: str
    source: str
    domains: int
    edition: int
    tried_s: float
    read_s: float
    answered_url: str = ""
    answered_tag: str = ""
    answered_date: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class OutcomeCount:
    """How some pages of one host came out: those with one outcome whose content was found one way.

    Args:
        strategy: which rung of the extraction ladder won; empty where nothing was kept.
        confidence: how sure that was on average, 0 to 1.
        thin: how many of them have hardly any words.
        duplicates: how many of them repeat another page, for whatever reason.
    """

    host: str
    outcome: Outcome
    strategy: str
    pages: int
    confidence: float
    thin: int
    duplicates: int


class Review(StrEnum):
    """What a person decided about a host (TRP-07)."""

    ALLOW = "allow"  # the pattern is no trap
    EXCLUDE = "exclude"  # ask this host for nothing more


@dataclass(frozen=True, slots=True)
class SiteRule:
    """One such decision; `pattern` names a suspected trap, empty for the whole host.

    Args:
        remedy: how it is taken back, where it is no decision about the host itself.
    """

    host: str  # name without port
    pattern: str
    review: Review
    note: str = ""
    since_s: float = 0.0
    remedy: str = ""


class Channel(StrEnum):
    """How a provider's documents are collected first (C7-05)."""

    CRAWL = "crawl"
    CONTEXT7 = "context7"
    API = "api"  # the provider's official one (LEG-05)
    CRAWL_PENDING_CONTEXT7_CHECK = "crawl_pending_context7_check"

    @property
    def is_source(self) -> bool:
        """Whether documents come from a source, and no request goes to a site."""
        return self in (Channel.CONTEXT7, Channel.API)

    @property
    def source(self) -> str:
        """Name the source, as people know it."""
        return "GitHub" if self is Channel.API else "Context7"


@dataclass(frozen=True, slots=True)
class Selectors:
    """Where a provider's pages keep their content, and what to cut out of it (CFG-08)."""

    content: str = ""
    remove: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Provider:
    """A registered source of documentation (CFG-03); ranges as in CFG-05…CFG-07.

    Args:
        key: the name it goes by on the command line.
        tos_reviewed_at: ISO date on which its terms were read (LEG-03, G-21).
        api: where its official API has the documents, as `github:owner/name` (LEG-05).
    """

    provider_id: str
    key: str
    name: str
    seed_urls: Annotated[tuple[str, ...], Len(1, 100)]
    allowed_path_patterns: Annotated[tuple[str, ...], Len(1, 100)]
    blocked_path_patterns: tuple[str, ...] = ()
    max_depth: Annotated[int, Ge(1), Le(5)] = 3
    max_pages: Annotated[int, Ge(1), Le(500)] = 200
    request_delay_ms: Annotated[int, Ge(1000), Le(5000)] = 1500
    custom_selectors: Selectors = field(default_factory=Selectors)
    sitemap_url: str | None = None
    spa_rendering: bool = False
    category: str = ""
    channel: Channel = Channel.CRAWL_PENDING_CONTEXT7_CHECK  # nobody has said: the check decides
    api: str = ""
    rationale: str = ""
    tos_reviewed_at: str | None = None
    tos_allows_crawling: bool | None = None

    @property
    def has_api(self) -> bool:
        """Whether its API comes before any other channel."""
        return bool(self.api) and self.channel not in (Channel.CRAWL, Channel.CONTEXT7)


class RankKind(StrEnum):
    """Who publishes a rank list, which says what its lines are."""

    TRANCO = "tranco"
    UMBRELLA = "umbrella"
    MAJESTIC = "majestic"
    CRUX = "crux"


@dataclass(frozen=True, slots=True)
class RankList:
    """The rank list in force: where it came from, and when.

    Args:
        origin: the URL, or the path of a file.
        domains: how many have a rank.
        checked_at_s: when its URL was asked last, whatever it answered.
        final_url: where redirects led; `etag` and `last_modified` belong to it.
    """

    origin: str
    kind: RankKind
    domains: int
    imported_at_s: float
    checked_at_s: float
    final_url: str = ""
    etag: str = ""
    last_modified: str = ""


@dataclass(frozen=True, slots=True)
class TrafficTable:
    """A tenant's own table of views or shares, as it is shown.

    Args:
        edition: tells its parts in the store from those of the table before.
    """

    origin: str
    places: int
    parts: int
    imported_at_s: float
    edition: str


@dataclass(frozen=True, slots=True)
class Takedown:
    """A provider's data was erased at its request (LEG-06, G-20); this line is what is left."""

    key: str
    name: str
    reason: str
    at_s: float
    jobs: int
    pages: int


@dataclass(frozen=True, slots=True)
class HostView:
    """A host as a person sees it: its politeness, and its answers.

    Args:
        next_s: before when nobody may ask it (scheduling time).
        crawl_delay_s: what its robots.txt asks for, before any cap.
        backoff_s: the extra wait that errors earned.
        latency_s: smoothed time to answer.
        ip: the address it was last reached at.
    """

    host: str
    next_s: float
    crawl_delay_s: float | None
    backoff_s: float
    errors: int
    latency_s: float
    ip: str | None


@dataclass(frozen=True, slots=True)
class RequestWindow:
    """The requests to a domain that were permitted in one window of time (DAT-04).

    Args:
        domain: the registrable domain.
        start_s: when the window, a minute, began (scheduling time).
        expires_s: when it reaches into no hour and day any more, and is forgotten.
    """

    domain: str
    start_s: float
    requests: int
    expires_s: float


class SignInKind(StrEnum):
    """What is shown to a site."""

    BASIC = "basic"
    BEARER = "bearer"
    COOKIE = "cookie"
    HEADER = "header"


@dataclass(frozen=True, slots=True)
class SignIn:
    """One origin of a tenant: the proof that it is its own, and what is shown to it.

    Args:
        origin: scheme, host and port; nothing is shown to any other.
        token: what the origin has to serve, so that its owner is known.
        proved_at_s: when it was served last; None where the last look did not find it.
        problem: why the last look did not find it.
        kind: of what is shown; None where nothing is kept yet.
        sealed: the headers that are shown, encrypted.
    """

    origin: str
    token: str
    made_at_s: float
    looked_at_s: float | None = None
    proved_at_s: float | None = None
    problem: str = ""
    kind: SignInKind | None = None
    sealed: str = ""

    def is_proved(self, wall_s: float) -> bool:
        """Return whether the origin is the tenant's now."""
        return self.proved_at_s is not None and wall_s - self.proved_at_s < PROOF_S

    def is_due(self, wall_s: float) -> bool:
        """Return whether the origin has to be looked at before anything is shown to it."""
        rest_s = TRY_AGAIN_S if self.proved_at_s is None else PROOF_S
        return self.looked_at_s is None or wall_s - self.looked_at_s >= rest_s
