"""The configuration of one job: frozen, complete, and stored with the job.

A field's default is the value of the `default` profile; `profiles/*.toml` have the others. Bounds
are part of the type, so every surface refuses the same values. `0` is "no limit" where the comment
says so.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated

from annotated_types import Ge, Le

from geomi.model.dataset.seed import SeedRules
from geomi.model.index.analysis import AnalysisRules
from geomi.model.index.search import KeptText
from geomi.model.markdown import MarkdownForm
from geomi.model.personal_data import SURE_KINDS, PiiAction, PiiKind

Weight = Annotated[float, Ge(0), Le(1)]
Days = Annotated[float, Ge(0), Le(36_525)]
MIB = 1024 * 1024
Seconds = Annotated[float, Ge(0), Le(365 * 86_400)]
Count = Annotated[int, Ge(0)]


class UrlOrder(StrEnum):
    """Which URL of a host is next (C-40)."""

    SCORE = "score"
    BFS = "bfs"
    WEIGHTED = "weighted"


class Preset(StrEnum):
    """What a weighted crawl is for (PRI-03)."""

    BALANCED = "balanced"
    NEWS = "news"
    ACADEMIC = "academic"
    SHOP = "shop"


@dataclass(frozen=True, slots=True)
class Weights:
    """How much counts in the order `weighted` (PRI-02); a number takes its preset's place."""

    preset: Preset = Preset.BALANCED
    importance: Weight | None = None
    traffic: Weight | None = None
    freshness: Weight | None = None


@dataclass(frozen=True, slots=True)
class Storing:
    """What is written down."""

    raw: bool | None = None  # responses as they came; None: unless something is taken out of them
    text: KeptText = KeptText.FULL  # or a preview of it, and no response (C-39)
    # How long a text of which a preview is kept may wait to be indexed; 0: not at all.
    whole_text_s: Annotated[float, Ge(0), Le(7 * 86_400)] = 86_400.0
    sitemap_bytes: Count = 64 * MIB  # of a job, packed; 0: sitemaps are read and not kept (STO-02)
    request_log: bool = True  # every request, for `geomi audit`

    @property
    def is_preview(self) -> bool:
        """Whether only a preview of a page is stored."""
        return self.text is KeptText.PREVIEW


@dataclass(frozen=True, slots=True)
class Retention:
    """Days from the end of a crawl's last job (G-04); 0: for ever."""

    urls_days: Days = 0.0  # its URLs and what became of each (FRN-14)
    jobs_days: Days = 0.0  # the job with its pages, bytes, outputs and request log (STO-06)


class Within(StrEnum):
    """How far from its seeds a crawl may go (C-67)."""

    HOST = "host"
    DOMAIN = "domain"
    LIST = "list"
    ANY = "any"


@dataclass(frozen=True, slots=True)
class Regions:
    """Workers of which regions serve the job's hosts (FUT-20); nothing: any worker serves any."""

    job: tuple[str, ...] = ()  # all hosts that no rule names
    hosts: tuple[str, ...] = ()  # HOST=REGION or .SUFFIX=REGION; several regions as REGION+REGION

    @property
    def are_named(self) -> bool:
        """Whether there is any rule."""
        return bool(self.job or self.hosts)


class QueryPolicy(StrEnum):
    """Which query parameters belong to a page's identity (C-17)."""

    STRIP_TRACKING = "strip_tracking"
    STRIP_ALL = "strip_all"
    KEEP = "keep"


class SessionValues(StrEnum):
    """Which values of `sid` and `session` name a visitor: random ones, or any (TRP-03)."""

    RANDOM = "random"
    ANY = "any"


class FetchForm(StrEnum):
    """Which form of a URL goes over the wire: as it was found, or its identity (C-15)."""

    FOUND = "found"
    KEY = "key"


class BlockStyle(StrEnum):
    """How the default block list is read: by whole segments, or by expressions (C-66)."""

    SEGMENTS = "segments"
    EXPRESSIONS = "expressions"


class GlobStyle(StrEnum):
    """What a glob means: repaired, or as minimatch reads it (C-23)."""

    REPAIRED = "repaired"
    MINIMATCH = "minimatch"


class OnUnreachable(StrEnum):
    """What a robots.txt that cannot be fetched means (C-01)."""

    DISALLOW = "disallow"
    ALLOW = "allow"
    ALLOW_WITH_DELAY = "allow_with_delay"
    RECORD = "record"  # for whoever only collects facts about a site: no page may be fetched


class OnOversize(StrEnum):
    """What a robots.txt above its limits means: obey what was read, or allow all (C-11)."""

    OBEY = "obey"
    ALLOW = "allow"


class Compare(StrEnum):
    """In which form robots.txt and URL are compared (C-07)."""

    RFC = "rfc"
    RAW_UPPER_HEX = "raw_upper_hex"


class Since(StrEnum):
    """Which date a revisit sends as If-Modified-Since (C-69)."""

    STORED = "stored"  # the Last-Modified, or else the Date, that came with the page
    LAST_CRAWLED = "last_crawled"


class Render(StrEnum):
    """When a page is rendered in a browser (C-34)."""

    NEVER = "never"
    AUTO = "auto"
    ALWAYS = "always"


class LinkStyle(StrEnum):
    """What markdown keeps of a link (G-12)."""

    KEEP = "keep"
    TEXT = "text"


class ImageStyle(StrEnum):
    """What markdown keeps of an image (MD-06)."""

    MARKDOWN = "markdown"
    ALT = "alt"


class TableStyle(StrEnum):
    """What markdown makes of a table whose cells span others (MD-03)."""

    GRID = "grid"  # with empty cells beside and below them
    TEXT = "text"  # a line for each row


class Ladder(StrEnum):
    """How the main content of a page is found."""

    SCORED = "scored"  # by the blocks that are likely to belong to it
    LITERAL = "literal"  # by the selectors of EXT-01…EXT-04 and CLN-01…CLN-07 alone


@dataclass(frozen=True, slots=True)
class Scope:
    """Which URLs belong to the crawl."""

    within: Within = Within.HOST
    hosts: tuple[str, ...] = ()  # for `list`
    include: tuple[str, ...] = ()  # empty: everything in scope (C-24)
    exclude: tuple[str, ...] = ()
    glob: GlobStyle = GlobStyle.REPAIRED
    block_defaults: bool = True  # login, cart, admin, … (SCP-10)
    block_style: BlockStyle = BlockStyle.SEGMENTS
    blocked_hosts: tuple[str, ...] = ()  # never asked, with everything below them (SCP-07)
    blocked_extensions: tuple[str, ...] = ()  # beside those that no content type would accept
    personal_areas: bool = True  # collect profiles, forums, comments, blogs too (SCP-14)
    avoid_traps: bool = True
    follow_nofollow: bool = False
    links_of_duplicates: bool = False  # C-41
    honor_canonical: bool = True  # believe and follow the canonical URL that a page names (C-42)
    sitemaps: bool = True  # those that robots.txt names, and `sitemap_urls`
    sitemap_urls: tuple[str, ...] = ()
    probe: bool = False  # ask each seed's host for /sitemap.xml and /llms.txt


@dataclass(frozen=True, slots=True)
class UrlRules:
    """How a URL becomes an identity; the URL that is fetched stays as it was found (C-15…C-22)."""

    query: QueryPolicy = QueryPolicy.STRIP_TRACKING
    tracking: tuple[str, ...] = (
        "utm_*", "ref", "gclid", "fbclid", "dclid", "msclkid", "yclid", "igshid", "mc_cid",
        "mc_eid",
    )  # fmt: skip
    strip_session: bool = True  # parameters that name a visitor, not a page (TRP-03)
    session_values: SessionValues = SessionValues.RANDOM
    force_https: bool = False
    strip_www: bool = False
    fetch_form: FetchForm = FetchForm.FOUND


@dataclass(frozen=True, slots=True)
class RobotsRules:
    """How robots.txt is read (RFC 9309 unless a profile says otherwise)."""

    respect: bool = True
    on_unreachable: OnUnreachable = OnUnreachable.DISALLOW
    ttl_s: Annotated[float, Ge(60), Le(86_400)] = 86_400.0  # RFC 9309 §2.4: not above 24 h
    fail_ttl_s: Annotated[float, Ge(10), Le(86_400)] = 600.0
    allow_on_429: bool = False  # C-02: else it counts as out of reach
    max_redirects: Annotated[int, Ge(0), Le(10)] = 5
    same_host_redirects: bool = False  # C-10
    connect_timeout_s: Annotated[float, Ge(0.1), Le(120)] = 5.0  # C-12
    read_timeout_s: Annotated[float, Ge(0.1), Le(600)] = 10.0
    total_timeout_s: Annotated[float, Ge(0.1), Le(600)] = 10.0
    max_bytes: Annotated[int, Ge(512_000)] = 524_288  # RFC 9309 §2.5: at least 500 KiB
    max_rules: Count = 0  # 0: no limit
    on_oversize: OnOversize = OnOversize.OBEY
    match_query: bool = True  # C-06
    compare: Compare = Compare.RFC
    blank_line_ends_group: bool = False  # C-08
    empty_group_falls_back: bool = False  # C-09
    collect_sitemaps: bool = True  # C-14
    respect_crawl_delay: bool = True
    max_crawl_delay_s: Seconds = 60.0
    persist: bool = True  # keep copies in the store, for other jobs and after a restart
    cache_entries: Annotated[int, Ge(1), Le(65_536)] = 4096  # copies a worker holds parsed


@dataclass(frozen=True, slots=True)
class Politeness:
    """How gently a host is asked. `delay_s` is a floor; jitter only adds to it (C-31)."""

    delay_s: Seconds | None = None
    base_delay_s: Seconds = 1.0  # × U(2/3, 4/3) when no delay is given
    min_delay_s: Seconds = 1.0  # the floor for public hosts (GEOMI_MIN_DELAY_S)
    requests_per_second: Annotated[float, Ge(0.1), Le(5)] | None = None  # C-32: the slower wins
    concurrency: Annotated[int, Ge(1), Le(1000)] = 10  # requests in flight, all hosts of the job
    max_hosts: Annotated[int, Ge(0), Le(100_000)] = 0  # hosts lent at once to the job; 0: no limit
    per_ip: Annotated[int, Ge(1), Le(100)] = 4
    burst: Annotated[int, Ge(1), Le(10)] = 1  # requests that may follow one another at once
    latency_factor: Annotated[float, Ge(0), Le(10)] = 1.0  # × the time a slow host takes to answer
    backoff_multiplier: Annotated[float, Ge(1), Le(10)] = 2.0  # G-02
    max_backoff_s: Seconds = 60.0
    max_per_hour: Count = 0  # requests of all jobs that have such a cap, together; 0: no limit
    max_per_day: Count = 0
    # Requests to one registrable domain, of all jobs that have such a cap (POL-11); 0: no limit.
    max_per_domain_hour: Count = 0
    max_per_domain_day: Count = 0
    batch_pause_s: Seconds = 0.0  # between two batches of a job (POL-09); 0: none


@dataclass(frozen=True, slots=True)
class HttpRules:
    """What a request says and how long it may take (G-09)."""

    user_agent: str = ""  # empty: geomi/<version> (+contact)
    contact: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    sign_in: bool = False  # to origins that the tenant has proved to be its own (C-48)
    accept: str = "text/html, application/xhtml+xml, application/xml;q=0.9, */*;q=0.8"  # HTTP-02
    accept_language: str = "en-US,en;q=0.9,ko;q=0.8"
    accept_encoding: str = "gzip, deflate, br, zstd"
    conditional: bool = True  # ask only for what has changed since the last crawl
    since: Since = Since.STORED
    connect_timeout_s: Annotated[float, Ge(0.1), Le(120)] = 5.0
    read_timeout_s: Annotated[float, Ge(0.1), Le(600)] = 30.0
    total_timeout_s: Annotated[float, Ge(0.1), Le(600)] = 60.0
    max_redirects: Annotated[int, Ge(0), Le(20)] = 5
    max_retries: Annotated[int, Ge(0), Le(10)] = 3  # a ceiling over the retry table's own numbers
    retry_jitter: Annotated[float, Ge(0), Le(1)] = 0.1  # C-36: up to this share more
    max_retry_after_s: Seconds = 3600.0
    refused_for_s: Seconds = 30 * 86_400.0  # a URL that said 403 is left alone; 0: for good
    content_types: tuple[str, ...] = (  # C-35; JSON and YAML where they describe an API (CTY-03)
        "text/html", "application/xhtml+xml", "text/plain", "text/markdown", "text/x-markdown",
        "application/json", "application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml",
        "application/vnd.oai.openapi", "application/vnd.oai.openapi+json",
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Limits:
    """Where the crawl ends. `0` is "no limit" for pages, seconds, bytes and what waits."""

    max_pages: Count = 100
    max_depth: Annotated[int, Ge(0), Le(1000)] = 3
    max_time_s: Seconds = 0.0
    max_bytes: Count = 0
    max_page_bytes: Annotated[int, Ge(1024), Le(256 * MIB)] = 10 * MIB
    max_url_chars: Annotated[int, Ge(64), Le(65_536)] = 2048  # G-07
    max_links_per_page: Annotated[int, Ge(1), Le(100_000)] = 10_000
    max_queued: Count = 1_000_000  # URLs that wait at once (G-03); 0: no limit
    max_queued_per_host: Count = 0
    max_queued_per_pattern: Count = 0
    # Of each batch, per cent; above it the job fails (JOB-10). 100: any number may fail.
    tolerated_failures: Annotated[float, Ge(0), Le(100)] = 100.0


@dataclass(frozen=True, slots=True)
class Extraction:
    """What is kept of a page's text."""

    content: str = ""  # CSS selector of the main content; empty: `ladder` decides
    remove: tuple[str, ...] = ()
    ladder: Ladder = Ladder.SCORED
    links: LinkStyle = LinkStyle.KEEP
    images: ImageStyle = ImageStyle.MARKDOWN
    tables: TableStyle = TableStyle.GRID
    markdown: MarkdownForm = MarkdownForm.STANDARD
    template: bool = True  # leave out what the pages of a site repeat
    max_markdown_chars: Annotated[int, Ge(1000)] = 2_000_000


@dataclass(frozen=True, slots=True)
class Recrawl:
    """When a page is due again (C-38), and whether it is visited then without being asked."""

    first_interval_s: Seconds = 7 * 86_400.0
    min_interval_s: Seconds = 3600.0
    max_interval_s: Seconds = 30 * 86_400.0
    # By `geomi watch` and the service; None: unless the crawl is kept only for a time.
    watch: bool | None = None
    requests_per_day: Annotated[int, Ge(2), Le(1_000_000)] = 1000  # of recrawls, in any 24 hours


@dataclass(frozen=True, slots=True)
class Safety:
    """What happens to personal data (C-47)."""

    pii: PiiAction = PiiAction.FLAG
    pii_types: tuple[PiiKind, ...] = SURE_KINDS

    @property
    def removes(self) -> bool:
        """Whether what is found may not be written down."""
        return self.pii in (PiiAction.REDACT, PiiAction.SKIP)


@dataclass(frozen=True, slots=True)
class CrawlConfig:
    """Everything a job needs to know, in the order a page meets it."""

    scope: Scope = field(default_factory=Scope)
    url: UrlRules = field(default_factory=UrlRules)
    order: UrlOrder = UrlOrder.SCORE
    weights: Weights = field(default_factory=Weights)
    robots: RobotsRules = field(default_factory=RobotsRules)
    politeness: Politeness = field(default_factory=Politeness)
    http: HttpRules = field(default_factory=HttpRules)
    regions: Regions = field(default_factory=Regions)
    limits: Limits = field(default_factory=Limits)
    render: Render = Render.AUTO
    extract: Extraction = field(default_factory=Extraction)
    store: Storing = field(default_factory=Storing)
    safety: Safety = field(default_factory=Safety)
    analysis: AnalysisRules = field(default_factory=AnalysisRules)
    recrawl: Recrawl = field(default_factory=Recrawl)
    retention: Retention = field(default_factory=Retention)
    seeds: SeedRules = field(default_factory=SeedRules)

    @property
    def is_watched(self) -> bool:
        """Whether its pages are visited again without being asked.

        Where nobody says so, not those of a crawl that expires: it never would.
        """
        expires = self.retention.urls_days > 0 or self.retention.jobs_days > 0
        return not expires if self.recrawl.watch is None else self.recrawl.watch

    @property
    def keeps_sitemaps(self) -> bool:
        """Whether the job keeps the bytes of sitemaps: not where it takes out personal data."""
        return self.store.sitemap_bytes > 0 and not self.safety.removes

    @property
    def has_batches(self) -> bool:
        """Whether the job works in batches: it pauses between them, or counts their failures."""
        return self.politeness.batch_pause_s > 0 or self.limits.tolerated_failures < 100
