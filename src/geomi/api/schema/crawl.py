"""Crawls and their URLs as responses (JOB-01, JOB-02, DAT-02)."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import orjson
from pydantic import Field, JsonValue

from geomi.api.schema.wire import (
    MAX_LIMIT,
    MAX_URL_CHARS,
    ULID,
    ListQuery,
    Name,
    ResponseModel,
    moment,
    moment_or_none,
)
from geomi.model.config import Render, Within
from geomi.model.entry import Source
from geomi.model.job import CrawlJob, JobState, StopReason
from geomi.model.verdict import Outcome, State
from geomi.service.crawling.crawls import CrawlCounts
from geomi.service.crawling.urls import UrlRow, UrlStatus
from geomi.service.documents import wire_id
from geomi.url.parse import parse as parse_url


class CrawlListQuery(ListQuery):
    """Which crawls are wanted."""

    collection_id: Name | None = None
    status: JobState | None = None


class CrawlStatsResponse(ResponseModel):
    """Counters of a crawl (JOB-02)."""

    urls_discovered: int
    urls_queued: int
    urls_processed: int
    urls_succeeded: int
    urls_failed: int
    urls_skipped: int
    urls_blocked: int
    pages_indexed: int
    chunks_created: int
    bytes_downloaded: int
    processing_time_ms: int


class CrawlConfigResponse(ResponseModel):
    """How a crawl behaves, in full."""

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
    extraction_schema: dict[str, JsonValue] | None

    @classmethod
    def of(cls, job: CrawlJob) -> CrawlConfigResponse:
        """Write a job's configuration."""
        config = job.config
        delay_s = config.politeness.delay_s
        return cls(
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
            extraction_schema=orjson.loads(schema) if (schema := config.analysis.schema) else None,
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
    stats = job.stats
    return CrawlStatsResponse(
        urls_discovered=stats.discovered,
        urls_queued=figures.queued,
        urls_processed=stats.settled,
        urls_succeeded=stats.collected,
        urls_failed=stats.failed,
        urls_skipped=stats.skipped,
        urls_blocked=stats.blocked,
        pages_indexed=figures.indexed,
        chunks_created=figures.chunks,
        bytes_downloaded=stats.bytes_received,
        processing_time_ms=round(job.active_s * 1000),
    )


class UrlListQuery(ListQuery):
    """Which URLs of a crawl are wanted."""

    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT, description="How many at most.")] = 50
    status: UrlStatus | None = None
    outcome: Outcome | None = None
    url_prefix: Annotated[
        str,
        Field(
            max_length=MAX_URL_CHARS,
            pattern=r"^[^\x00-\x1f\x7f]*$",
            description="What the URLs begin with.",
        ),
    ] = ""


class UrlResponse(ResponseModel):
    """One URL of a crawl (DAT-02)."""

    url_hash: str = Field(description="SHA-256 of what makes it that URL.")
    url: str = Field(examples=["https://docs.example.com/start"])
    crawl_job_id: str
    tenant_id: str
    source: Source
    parent_url: str | None
    depth: int
    status: UrlStatus
    outcome: Outcome | None = Field(description="How its last visit ended.")
    unchanged: bool = Field(description="Its site said that nothing had changed.")
    priority: int
    attempts: int
    http_status: int | None
    document_id: str | None
    error: str | None
    discovered_at: datetime
    processed_at: datetime | None
    next_attempt_at: datetime | None = Field(description="Where it failed and is tried again.")

    @classmethod
    def of(cls, row: UrlRow, *, tenant: str, ahead_s: float) -> UrlResponse:
        """Write a row; the wall clock is so much ahead of the time that is stored."""
        entry, document = row.entry, row.document
        waits = entry.state is State.PENDING and entry.attempts > 0
        is_good = row.status in (UrlStatus.PENDING, UrlStatus.PROCESSING, UrlStatus.COMPLETED)
        told = document.detail if document and not is_good else entry.detail
        return cls(
            url_hash=row.url_hash,
            url=entry.url,
            crawl_job_id=entry.job,
            tenant_id=tenant,
            source=entry.source,
            parent_url=entry.parent,
            depth=entry.depth,
            status=row.status,
            outcome=entry.outcome,
            unchanged=row.is_unchanged,
            priority=entry.priority,
            attempts=entry.attempts,
            http_status=entry.status,
            document_id=wire_id(document.id) if document else None,
            error=None if is_good else told or entry.outcome,
            discovered_at=moment(entry.discovered_s + ahead_s),
            processed_at=moment_or_none(
                None if entry.settled_s is None else entry.settled_s + ahead_s
            ),
            next_attempt_at=moment(entry.due_s + ahead_s) if waits else None,
        )


class UrlListResponse(ResponseModel):
    """Some URLs of a crawl; a part may be short, and the one without cursor is the last."""

    urls: tuple[UrlResponse, ...]
    next_cursor: str | None = None
