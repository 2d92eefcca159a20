"""One job's configuration: frozen, stored with the job, and complete without looking anywhere else.

A field's default is what the `default` profile does; `profiles/*.toml` hold the others. Bounds sit
on the type, so every surface refuses the same values. `0` means "no limit" where the comment says
so.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated

from annotated_types import Ge, Le

MIB = 1024 * 1024

Seconds = Annotated[float, Ge(0), Le(365 * 86_400)]
Count = Annotated[int, Ge(0)]


class Within(StrEnum):
    """How far from its seeds a crawl may go (C-67)."""

    HOST = "host"
    DOMAIN = "domain"
    LIST = "list"
    ANY = "any"


class QueryPolicy(StrEnum):
    """Which query parameters belong to a page's identity (C-17)."""

    STRIP_TRACKING = "strip_tracking"
    STRIP_ALL = "strip_all"
    KEEP = "keep"


class OnUnreachable(StrEnum):
    """What a robots.txt that cannot be fetched means (C-01)."""

    DISALLOW = "disallow"
    ALLOW = "allow"
    ALLOW_WITH_DELAY = "allow_with_delay"


class Render(StrEnum):
    """When a page is rendered in a browser (C-34)."""

    NEVER = "never"
    AUTO = "auto"


class Links(StrEnum):
    """What markdown keeps of a link (G-12)."""

    KEEP = "keep"
    TEXT = "text"


class Images(StrEnum):
    """What markdown keeps of an image (MD-06)."""

    MARKDOWN = "markdown"
    ALT = "alt"


@dataclass(frozen=True, slots=True)
class Scope:
    """Which URLs belong to the crawl."""

    within: Within = Within.HOST
    hosts: tuple[str, ...] = ()  # for `list`
    include: tuple[str, ...] = ()  # empty: everything in scope (C-24)
    exclude: tuple[str, ...] = ()
    block_defaults: bool = True  # login, cart, admin, … as whole segments (C-66)
    avoid_traps: bool = True
    follow_nofollow: bool = False
    sitemaps: bool = True


@dataclass(frozen=True, slots=True)
class UrlRules:
    """How a URL becomes an identity; the URL that is fetched stays as it was found (C-15…C-22)."""

    query: QueryPolicy = QueryPolicy.STRIP_TRACKING
    tracking: tuple[str, ...] = (
        "utm_*", "ref", "gclid", "fbclid", "dclid", "msclkid", "yclid", "igshid", "mc_cid",
        "mc_eid",
    )  # fmt: skip
    force_https: bool = False
    strip_www: bool = False


@dataclass(frozen=True, slots=True)
class RobotsRules:
    """How robots.txt is read (RFC 9309 unless a profile says otherwise)."""

    respect: bool = True
    on_unreachable: OnUnreachable = OnUnreachable.DISALLOW
    ttl_s: Annotated[float, Ge(60), Le(86_400)] = 86_400.0  # RFC 9309 §2.4: not above 24 h
    fail_ttl_s: Annotated[float, Ge(10), Le(86_400)] = 600.0
    max_redirects: Annotated[int, Ge(0), Le(10)] = 5
    max_bytes: Annotated[int, Ge(512_000)] = 524_288  # RFC 9309 §2.5: at least 500 KiB
    respect_crawl_delay: bool = True
    max_crawl_delay_s: Seconds = 60.0


@dataclass(frozen=True, slots=True)
class Politeness:
    """How gently a host is asked. `delay_s` is a floor; jitter only adds to it (C-31)."""

    delay_s: Seconds | None = None
    base_delay_s: Seconds = 1.0  # × U(2/3, 4/3) when no delay is given
    min_delay_s: Seconds = 1.0  # the floor for public hosts (GEOMI_MIN_DELAY_S)
    concurrency: Annotated[int, Ge(1), Le(1000)] = 10  # requests in flight, all hosts of the job
    per_ip: Annotated[int, Ge(1), Le(100)] = 4
    backoff_multiplier: Annotated[float, Ge(1), Le(10)] = 2.0  # G-02
    max_backoff_s: Seconds = 60.0


@dataclass(frozen=True, slots=True)
class HttpRules:
    """What a request says and how long it may take (G-09)."""

    user_agent: str = ""  # empty: geomi/<version> (+contact)
    contact: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    accept_language: str = "en-US,en;q=0.9,ko;q=0.8"
    connect_timeout_s: Annotated[float, Ge(0.1), Le(120)] = 5.0
    read_timeout_s: Annotated[float, Ge(0.1), Le(600)] = 30.0
    total_timeout_s: Annotated[float, Ge(0.1), Le(600)] = 60.0
    max_redirects: Annotated[int, Ge(0), Le(20)] = 5
    max_retries: Annotated[int, Ge(0), Le(10)] = 3  # a ceiling over the retry table's own numbers
    max_retry_after_s: Seconds = 3600.0
    content_types: tuple[str, ...] = ("text/html", "application/xhtml+xml", "text/plain")


@dataclass(frozen=True, slots=True)
class Limits:
    """Where the crawl ends. `0` is "no limit" for pages, seconds and bytes."""

    max_pages: Count = 100
    max_depth: Annotated[int, Ge(0), Le(1000)] = 3
    max_time_s: Seconds = 0.0
    max_bytes: Count = 0
    max_page_bytes: Annotated[int, Ge(1024), Le(256 * MIB)] = 10 * MIB
    max_url_chars: Annotated[int, Ge(64), Le(65_536)] = 2048  # G-07
    max_links_per_page: Annotated[int, Ge(1), Le(100_000)] = 10_000


@dataclass(frozen=True, slots=True)
class Extraction:
    """What is kept of a page's text."""

    content: str = ""  # CSS selector of the main content; empty: the ladder decides
    remove: tuple[str, ...] = ()
    links: Links = Links.KEEP
    images: Images = Images.MARKDOWN
    max_markdown_chars: Annotated[int, Ge(1000)] = 2_000_000


@dataclass(frozen=True, slots=True)
class Storing:
    """What is written down."""

    raw: bool = True  # the response as it came, in WARC segments


@dataclass(frozen=True, slots=True)
class Recrawl:
    """When a page is due again (C-38)."""

    first_interval_s: Seconds = 7 * 86_400.0
    min_interval_s: Seconds = 3600.0
    max_interval_s: Seconds = 30 * 86_400.0


@dataclass(frozen=True, slots=True)
class CrawlConfig:
    """Everything a job needs to know, in the order a page meets it."""

    scope: Scope = field(default_factory=Scope)
    url: UrlRules = field(default_factory=UrlRules)
    robots: RobotsRules = field(default_factory=RobotsRules)
    politeness: Politeness = field(default_factory=Politeness)
    http: HttpRules = field(default_factory=HttpRules)
    limits: Limits = field(default_factory=Limits)
    render: Render = Render.AUTO
    extract: Extraction = field(default_factory=Extraction)
    store: Storing = field(default_factory=Storing)
    recrawl: Recrawl = field(default_factory=Recrawl)
