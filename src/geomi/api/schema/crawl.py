"""Crawls and their URLs: the request, and which field of it is which setting; and the responses.

Requests are API-01…API-07 and CFG-12…CFG-17, responses JOB-01, JOB-02 and DAT-02.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

import orjson
from pydantic import ConfigDict, Field, JsonValue
from pydantic.config import JsonDict

from geomi.api.schema.safety import SAFETY_NAMES, ContentSafetyRequest, ContentSafetyResponse
from geomi.api.schema.wire import (
    MAX_LIMIT,
    MAX_URL_CHARS,
    ULID,
    WHOLE,
    Flag,
    HttpUrl,
    ListQuery,
    Name,
    Number,
    Pattern,
    RequestModel,
    ResponseModel,
    moment,
    moment_or_none,
)
from geomi.model.config import HttpRules, Preset, Render, UrlOrder, Within
from geomi.model.entry import Source
from geomi.model.index.analysis import WantedType
from geomi.model.job import CrawlJob, JobState, StopReason
from geomi.model.verdict import Outcome, State
from geomi.service.crawling.crawls import (
    CONTRACT_PROFILE,
    MAX_HOSTS,
    MAX_PATTERNS,
    MAX_SEEDS,
    MAX_SITEMAPS,
    MIB,
    CrawlCounts,
    CrawlOrder,
    next_run_s,
)
from geomi.service.crawling.urls import UrlRow, UrlStatus
from geomi.service.documents import wire_id
from geomi.url.parse import parse as parse_url

MAX_TYPES = 20
MAX_JOB_BYTES = 100 * 1024 * MIB

ProfileName = Literal["default", "docs", "knowledge-base"]
OrderName = Literal["score", "bfs", "weighted"]
PurposeName = Literal["balanced", "news", "academic", "shop"]
PageTypeName = Literal["article", "product", "faq", "policy", "landing", "contact"]
Watch = Annotated[Flag, Field(description="Visit pages again when they are due, unasked.")]
RequestsPerDay = Annotated[
    int,
    Field(ge=2, le=1_000_000, description="Requests of all recrawls in any 24 hours."),
    WHOLE,
]
Patterns = Annotated[tuple[Pattern, ...], Field(max_length=MAX_PATTERNS)]
Host = Annotated[str, Field(max_length=253, pattern=r"^[A-Za-z0-9*]([A-Za-z0-9.-]*[A-Za-z0-9])?$")]
MediaType = Annotated[str, Field(max_length=100, pattern=r"^[a-z]+/[a-z0-9.+-]+$")]

# Fields that are one setting each, and the setting.
_SETTINGS: dict[str, str] = {
    "max_depth": "limits.max_depth",
    "max_pages": "limits.max_pages",
    "max_duration": "limits.max_time_s",
    "max_bytes": "limits.max_bytes",
    "include_patterns": "scope.include",
    "exclude_patterns": "scope.exclude",
    "respect_robots_txt": "robots.respect",
    "requests_per_second": "politeness.requests_per_second",
    "enable_classification": "analysis.classify",
    "enable_quality_check": "analysis.quality",
    "quality_threshold": "analysis.quality_threshold",
    "target_content_types": "analysis.page_types",
    "min_content_length": "analysis.min_chars",
    "max_content_length": "analysis.max_chars",
    "sign_in": "http.sign_in",
    "content_types": "http.content_types",
    "watch": "recrawl.watch",
    "requests_per_day": "recrawl.requests_per_day",
    "regions": "regions.job",
    "host_regions": "regions.hosts",
    "order": "order",
    "purpose": "weights.preset",
}


class CrawlSettings(RequestModel):
    """The settings of a crawl; a missing field has the value of the profile.

    The defaults here are those of the profile `default`.
    """

    max_depth: Annotated[int, Field(ge=1, le=10), WHOLE] = 3
    max_pages: Annotated[int, Field(ge=1, le=10_000), WHOLE] = 100
    max_duration: Annotated[int, Field(ge=1, le=86_400, description="Seconds of work."), WHOLE] = (
        3600
    )
    max_bytes: Annotated[
        int,
        Field(ge=1, le=MAX_JOB_BYTES, description="Received bytes of all pages together."),
        WHOLE,
    ] = 100 * MIB
    include_patterns: Patterns = ()
    exclude_patterns: Patterns = ()
    allowed_domains: Annotated[
        tuple[Host, ...], Field(max_length=MAX_HOSTS, description="Default: the seeds' hosts.")
    ] = ()
    follow_external_links: Flag = False
    respect_robots_txt: Flag = True
    render_java_script: Annotated[
        Flag,
        Field(description="geomi renders a page if it needs a browser and there is a renderer."),
    ] = True
    requests_per_second: Annotated[Number, Field(ge=0.1, le=5)] = 1
    delay_between_requests: Annotated[
        int,
        Field(
            ge=0,
            le=3_600_000,
            description="The shortest delay between two requests, in milliseconds.",
        ),
        WHOLE,
    ] = 1000
    min_content_length: Annotated[int, Field(ge=0, le=1_000_000), WHOLE] = 100
    max_content_length: Annotated[int, Field(ge=1000, le=10_000_000), WHOLE] = 100_000
    content_types: Annotated[
        tuple[MediaType, ...],
        Field(
            min_length=1,
            max_length=MAX_TYPES,
            description="What else a server sends is not read.",
        ),
    ] = HttpRules().content_types
    enable_classification: Flag = True
    enable_quality_check: Flag = True
    quality_threshold: Annotated[Number, Field(ge=0, le=10)] = 5
    target_content_types: Annotated[
        tuple[PageTypeName, ...], Field(max_length=len(WantedType))
    ] = ()
    sign_in: Annotated[
        Flag, Field(description="Sign in to sites that the tenant has proved to be its own.")
    ] = False
    order: Annotated[
        OrderName,
        Field(description="Which URL is next; `weighted` asks how much sites are visited."),
    ] = "score"
    purpose: Annotated[
        PurposeName, Field(description="Of the order `weighted`: what counts most.")
    ] = "balanced"
    extraction_schema: Annotated[
        dict[str, JsonValue] | None,
        Field(description="Fields to extract from every page: a JSON Schema without references."),
    ] = None
    watch: Watch = True
    requests_per_day: RequestsPerDay = 1000
    regions: Annotated[
        Patterns,
        Field(description="Regions whose workers ask the hosts. Default: every worker does."),
    ] = ()
    host_regions: Annotated[
        Patterns,
        Field(description="Regions of single hosts: `HOST=REGION` or `.SUFFIX=REGION`."),
    ] = ()
    content_safety: ContentSafetyRequest = ContentSafetyRequest()

    def settings(self) -> dict[str, object]:
        """Return what was said, by dotted key; what was not said is the profile's."""
        said = self.model_fields_set
        told: dict[str, object] = {
            key: getattr(self, name) for name, key in _SETTINGS.items() if name in said
        }
        if "render_java_script" in said:
            told["render"] = (Render.AUTO if self.render_java_script else Render.NEVER).value
        if "delay_between_requests" in said:
            told["politeness.delay_s"] = self.delay_between_requests / 1000
        elif "requests_per_second" in said:  # else the delay of a profile would outweigh the rate
            told["politeness.delay_s"] = 1 / self.requests_per_second
        if self.allowed_domains:
            told |= {"scope.within": Within.LIST.value, "scope.hosts": self.allowed_domains}
        if self.extraction_schema is not None:
            told["analysis.schema"] = orjson.dumps(self.extraction_schema).decode()
        if self.follow_external_links:
            told["scope.within"] = Within.ANY.value
        return told | self.content_safety.settings()


class ContractSettings(CrawlSettings):
    """The settings of a crawl; the defaults here are those of the profile `knowledge-base`."""

    content_types: Annotated[
        tuple[MediaType, ...],
        Field(
            min_length=1,
            max_length=MAX_TYPES,
            description="What else a server sends is not read.",
        ),
    ] = ("text/html",)


def _alias(name: str) -> str:
    return CrawlSettings.model_fields[name].alias or name


# What a request calls each setting that the service may complain of.
SETTING_NAMES = {key: f"config.{_alias(name)}" for name, key in _SETTINGS.items()} | {
    "politeness.delay_s": "config.delayBetweenRequests",
    "analysis.schema": "config.extractionSchema",
    "scope.hosts": "config.allowedDomains",
    "scope.within": "config.followExternalLinks",
}
SETTING_NAMES |= {key: f"config.contentSafety.{name}" for key, name in SAFETY_NAMES.items()}

_EXAMPLE: JsonDict = {
    "collectionId": "handbook",
    "seedUrls": ["https://docs.example.com/"],
    "config": {"maxDepth": 2, "maxPages": 50, "excludePatterns": ["/archive/**"]},
}


class CrawlRequest(RequestModel):
    """A crawl to start."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE]})

    collection_id: Name
    seed_urls: Annotated[tuple[HttpUrl, ...], Field(min_length=1, max_length=MAX_SEEDS)]
    sitemap_urls: Annotated[tuple[HttpUrl, ...], Field(max_length=MAX_SITEMAPS)] = ()
    profile: ProfileName = "default"
    config: CrawlSettings = CrawlSettings()

    def order(self) -> CrawlOrder:
        """Return it as the service takes it."""
        return CrawlOrder(
            self.collection_id,
            self.seed_urls,
            self.sitemap_urls,
            self.profile,
            self.config.settings(),
        )


class ContractCrawlRequest(CrawlRequest):
    """A crawl to start by the paths of the contract (`/crawler`)."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE]})

    profile: ProfileName = CONTRACT_PROFILE
    config: ContractSettings = ContractSettings()


class CrawlChange(RequestModel):
    """What is to be different about a crawl; what is missing stays."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"requestsPerDay": 200}]})

    watch: Watch | None = None
    requests_per_day: RequestsPerDay | None = None


class CrawlListQuery(ListQuery):
    """The crawls to list."""

    collection_id: Name | None = None
    status: JobState | None = None


class CrawlStatsResponse(ResponseModel):
    """Counters of a crawl (JOB-02): of its URLs what a list of them shows by `status`."""

    urls_discovered: int
    urls_queued: int = Field(description="URLs that are `pending`.")
    urls_processed: int = Field(description="All other URLs.")
    urls_succeeded: int = Field(description="URLs that are `completed`.")
    urls_failed: int
    urls_poisoned: int = Field(description="Of those that failed: they kill what reads them.")
    urls_skipped: int = Field(description="Left out by type, quality, or as a duplicate.")
    urls_blocked: int
    pages_indexed: int
    chunks_created: int
    bytes_downloaded: int
    processing_time_ms: int


class CrawlConfigResponse(ResponseModel):
    """All settings of a crawl, with where it starts."""

    seed_urls: tuple[str, ...]
    sitemap_urls: tuple[str, ...]
    max_depth: int
    max_pages: int
    max_duration: int
    max_bytes: int
    include_patterns: tuple[str, ...]
    exclude_patterns: tuple[str, ...]
    allowed_domains: tuple[str, ...]
    follow_external_links: bool
    respect_robots_txt: bool
    render_java_script: bool
    requests_per_second: float | None
    delay_between_requests: int
    min_content_length: int
    max_content_length: int
    content_types: tuple[str, ...]
    enable_classification: bool
    enable_quality_check: bool
    quality_threshold: float
    target_content_types: tuple[str, ...]
    sign_in: bool
    order: UrlOrder = Field(description="Which URL is next.")
    purpose: Preset = Field(description="Of the order `weighted`: what counts most.")
    extraction_schema: dict[str, JsonValue] | None
    watch: bool
    requests_per_day: int
    regions: tuple[str, ...]
    host_regions: tuple[str, ...]
    content_safety: ContentSafetyResponse

    @classmethod
    def of(cls, job: CrawlJob) -> CrawlConfigResponse:
        """Write a job's configuration."""
        config = job.config
        delay_s = config.politeness.delay_s
        return cls(
            seed_urls=job.seeds,
            sitemap_urls=config.scope.sitemap_urls,
            max_depth=config.limits.max_depth,
            max_pages=config.limits.max_pages,
            max_duration=round(config.limits.max_time_s),
            max_bytes=config.limits.max_bytes,
            include_patterns=config.scope.include,
            exclude_patterns=config.scope.exclude,
            allowed_domains=_domains(job),
            follow_external_links=config.scope.within is Within.ANY,
            respect_robots_txt=config.robots.respect,
            render_java_script=config.render is not Render.NEVER,
            requests_per_second=config.politeness.requests_per_second,
            delay_between_requests=round(
                1000 * (config.politeness.base_delay_s if delay_s is None else delay_s)
            ),
            min_content_length=config.analysis.min_chars,
            max_content_length=config.analysis.max_chars,
            content_types=config.http.content_types,
            enable_classification=config.analysis.classify,
            enable_quality_check=config.analysis.quality,
            quality_threshold=config.analysis.quality_threshold,
            target_content_types=tuple(one.value for one in config.analysis.page_types),
            sign_in=config.http.sign_in,
            order=config.order,
            purpose=config.weights.preset,
            extraction_schema=orjson.loads(schema) if (schema := config.analysis.schema) else None,
            watch=job.is_watched,
            requests_per_day=config.recrawl.requests_per_day,
            regions=config.regions.job,
            host_regions=config.regions.hosts,
            content_safety=ContentSafetyResponse.of(config),
        )


class CrawlResponse(ResponseModel):
    """A crawl (JOB-01)."""

    job_id: Annotated[str, Field(pattern=ULID, examples=["01KA5Q2V7Z3M9X4C8B6N1D0E5F"])]
    tenant_id: str = Field(examples=["default"])
    collection_id: str = Field(examples=["handbook"])
    status: JobState
    paused: bool
    stop_reason: StopReason | None
    seed_urls: tuple[str, ...]
    config: CrawlConfigResponse
    stats: CrawlStatsResponse
    created_at: datetime
    started_at: datetime | None
    completed_at: datetime | None
    error: str | None
    provider: str | None
    recrawl_of: str | None = Field(description="The crawl whose pages this one visits again.")
    next_run_at: datetime | None = Field(
        description="When the next recrawl begins, or is planned if `watch` was changed just now."
    )
    unserved: str | None = Field(description="What waits for a region without a live worker.")
    watch_problem: str | None = Field(description="What keeps `watch` from visiting pages again.")

    @classmethod
    def of(cls, job: CrawlJob, figures: CrawlCounts) -> CrawlResponse:
        """Write a job."""
        return cls(
            job_id=job.id,
            tenant_id=job.tenant,
            collection_id=job.collection or job.config.analysis.collection,
            status=job.state,
            paused=job.paused,
            stop_reason=job.stop,
            seed_urls=job.seeds,
            config=CrawlConfigResponse.of(job),
            stats=_stats(job, figures),
            created_at=moment(job.created_at_s),
            started_at=moment_or_none(job.started_at_s),
            completed_at=moment_or_none(job.ended_at_s),
            error=job.error or None,
            provider=job.provider or None,
            recrawl_of=job.crawl or None,
            next_run_at=moment_or_none(next_run_s(job)),
            unserved=figures.unserved or None,
            watch_problem=(job.watch_note or None) if job.is_watched else None,
        )


class CrawlListResponse(ResponseModel):
    """Some crawls, newest first."""

    crawls: tuple[CrawlResponse, ...]
    next_cursor: str | None = None


def _domains(job: CrawlJob) -> tuple[str, ...]:
    """Return the hosts that a crawl keeps to: those of its list, or of its seeds (CFG-13)."""
    scope = job.config.scope
    if scope.within is not Within.HOST:
        return scope.hosts
    return tuple(dict.fromkeys(url.host for url in map(parse_url, job.seeds) if url))


def _stats(job: CrawlJob, figures: CrawlCounts) -> CrawlStatsResponse:
    by_status = figures.by_status
    return CrawlStatsResponse(
        urls_discovered=job.stats.discovered,
        urls_queued=figures.queued,
        urls_processed=figures.processed,
        urls_succeeded=by_status.get(UrlStatus.COMPLETED, 0),
        urls_failed=by_status.get(UrlStatus.FAILED, 0),
        urls_poisoned=job.stats.poisoned,
        urls_skipped=by_status.get(UrlStatus.SKIPPED, 0),
        urls_blocked=by_status.get(UrlStatus.BLOCKED, 0),
        pages_indexed=figures.indexed,
        chunks_created=figures.chunks,
        bytes_downloaded=job.stats.bytes_received,
        processing_time_ms=round(job.active_s * 1000),
    )


class UrlListQuery(ListQuery):
    """The URLs of a crawl to list."""

    limit: Annotated[
        int, Field(ge=1, le=MAX_LIMIT, description="The most items in the answer.")
    ] = 50
    status: UrlStatus | None = None
    outcome: Outcome | None = None
    url_prefix: Annotated[
        str,
        Field(
            max_length=MAX_URL_CHARS,
            pattern=r"^[^\x00-\x1f\x7f]*$",
            description="Only URLs that begin with this.",
        ),
    ] = ""


class UrlResponse(ResponseModel):
    """One URL of a crawl (DAT-02)."""

    url_hash: str = Field(description="SHA-256 of the url key.")
    url: str = Field(examples=["https://docs.example.com/start"])
    crawl_job_id: str
    tenant_id: str
    source: Source
    parent_url: str | None
    depth: int
    status: UrlStatus
    outcome: Outcome | None = Field(description="How its last visit ended.")
    unchanged: bool = Field(description="The site answered that nothing had changed.")
    priority: int
    attempts: int
    last_attempt_at: datetime | None
    next_attempt_at: datetime | None = Field(description="If it failed: when geomi tries again.")
    http_status: int | None
    content_type: str | None = Field(description="Of the last answer, without parameters.")
    content_length: int | None = Field(
        description="Bytes of its body; if geomi did not read it, what its head says."
    )
    document_id: str | None
    error: str | None
    discovered_at: datetime
    processed_at: datetime | None
    ttl: int | None = Field(
        description="When geomi deletes this URL, in seconds since 1970: null before the crawl or "
        "its recrawl is over, or if geomi keeps the URL for ever. Each recrawl moves it on."
    )

    @classmethod
    def of(cls, row: UrlRow, job: CrawlJob, *, ahead_s: float, end_s: int | None) -> UrlResponse:
        """Write a row.

        Args:
            ahead_s: so much is the wall clock ahead of the time that is stored.
            end_s: when the URLs of the job are deleted.
        """
        entry, document = row.entry, row.document
        visited = moment_or_none(None if entry.settled_s is None else entry.settled_s + ahead_s)
        waits = entry.state is State.PENDING and entry.attempts > 0
        is_good = row.status in (UrlStatus.PENDING, UrlStatus.PROCESSING, UrlStatus.COMPLETED)
        told = document.detail if document and not is_good else entry.detail
        return cls(
            url_hash=row.url_hash,
            url=entry.url,
            crawl_job_id=entry.job,
            tenant_id=job.tenant,
            source=entry.source,
            parent_url=entry.parent,
            depth=entry.depth,
            status=row.status,
            outcome=entry.outcome,
            unchanged=row.is_unchanged,
            priority=entry.priority,
            attempts=entry.attempts,
            last_attempt_at=visited,
            next_attempt_at=moment(entry.due_s + ahead_s) if waits else None,
            http_status=entry.status,
            content_type=entry.media_type,
            content_length=entry.body_bytes,
            document_id=wire_id(document.id) if document else None,
            error=None if is_good else told or entry.outcome,
            discovered_at=moment(entry.discovered_s + ahead_s),
            processed_at=None if entry.state is State.PENDING else visited,
            ttl=end_s,
        )


class UrlListResponse(ResponseModel):
    """Some URLs of a crawl; a part may be short, and the part without a cursor is the last."""

    urls: tuple[UrlResponse, ...]
    next_cursor: str | None = None
