"""Providers on the wire; their fields are named as CFG-03 has them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Literal

from pydantic import ConfigDict, Field
from pydantic.config import JsonDict

from geomi.api.schema.schedule import CronLine
from geomi.api.schema.wire import (
    WHOLE,
    Flag,
    HttpUrl,
    Line,
    Name,
    Pattern,
    RequestModel,
    ResponseModel,
    WireModel,
    moment,
)
from geomi.app.use.channels import ChannelDecision
from geomi.model.site import Channel, Provider
from geomi.seed.repository_docs import MAX_PLACE_CHARS
from geomi.service.providers import ErasedProvider
from geomi.settings.providers import MAX_ID_CHARS

_DATE = r"^\d{4}-\d{2}-\d{2}$"
_EXAMPLE: JsonDict = {
    "key": "acme-docs",
    "name": "Acme",
    "seed_urls": ["https://docs.acme.example/"],
    "allowed_path_patterns": ["/guide/**"],
    "tos_reviewed_at": "2026-01-31",
    "tos_allows_crawling": True,
}
Selector = Annotated[str, Field(max_length=500, pattern=r"^[^\x00-\x1f\x7f]*$")]


class ProviderSelectors(WireModel):
    """The selectors of a page's content, and of elements to cut out."""

    content: Selector = ""
    remove: Annotated[tuple[Selector, ...], Field(max_length=100)] = ()


class ProviderRequest(WireModel):
    """A provider to register (CFG-03…CFG-11)."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE]})

    key: (
        Annotated[
            str,
            Field(
                pattern=r"^[a-z0-9][a-z0-9-]{0,63}$",
                description="Without it geomi derives one from the first seed.",
            ),
        ]
        | None
    ) = None
    provider_id: (
        Annotated[
            str,
            Field(
                min_length=1,
                max_length=MAX_ID_CHARS,
                pattern=r"^[^\x00-\x1f\x7f]*$",
                description="A UUID; geomi derives one from any other text.",
            ),
        ]
        | None
    ) = None
    name: Annotated[str, Field(max_length=2000, pattern=r"^[^\x00-\x1f\x7f]*$")] | None = None
    seed_url: HttpUrl | None = None
    seed_urls: Annotated[tuple[HttpUrl, ...], Field(min_length=1, max_length=100)] | None = None
    allowed_path_patterns: Annotated[tuple[Pattern, ...], Field(min_length=1, max_length=100)]
    blocked_path_patterns: Annotated[tuple[Pattern, ...], Field(max_length=100)] = ()
    max_depth: Annotated[int, Field(ge=1, le=5), WHOLE] = 3
    max_pages: Annotated[int, Field(ge=1, le=500), WHOLE] = 200
    request_delay_ms: Annotated[int, Field(ge=1000, le=5000), WHOLE] = 1500
    custom_selectors: ProviderSelectors = ProviderSelectors()
    sitemap_url: HttpUrl | None = None
    spa_rendering: Flag = False
    category: Line = ""
    channel: Channel = Channel.CRAWL_PENDING_CONTEXT7_CHECK
    api: Annotated[
        str,
        Field(
            max_length=MAX_PLACE_CHARS,
            pattern=r"^(github:.+)?$",
            description="Its official API: `github:owner/name`, with a folder after it if needed.",
        ),
    ] = ""
    rationale: Line = ""
    tos_reviewed_at: Annotated[str, Field(pattern=_DATE)] | None = None
    tos_allows_crawling: Flag | None = None

    def payload(self) -> dict[str, object]:
        """Return what was said, as a registration."""
        return self.model_dump(exclude_unset=True, exclude_none=True)


class ProviderReviewRequest(RequestModel):
    """What a provider's terms say about crawling (LEG-03)."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"allows": True}]})

    allows: Flag
    reviewed_at: Annotated[str, Field(pattern=_DATE, description="Default: today.")] | None = None


class ProviderCrawlRequest(RequestModel):
    """The collection for a provider's documents."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"collectionId": "apis"}]})

    collection_id: Name


class ProviderScheduleRequest(RequestModel):
    """The collection for a provider's documents, and the times of its crawls."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"collectionId": "apis", "cron": "@weekly"}]}
    )

    collection_id: Name
    cron: CronLine = "@weekly"


class ErasureQuery(RequestModel):
    """Who asked for it, and why."""

    reason: Annotated[str, Field(min_length=1, max_length=2000, pattern=r"^[^\x00-\x1f\x7f]*$")]


class ProviderResponse(WireModel):
    """A provider (CFG-03)."""

    provider_id: str
    key: str
    name: str
    seed_urls: tuple[str, ...]
    allowed_path_patterns: tuple[str, ...]
    blocked_path_patterns: tuple[str, ...]
    max_depth: int
    max_pages: int
    request_delay_ms: int
    custom_selectors: ProviderSelectors
    sitemap_url: str | None
    spa_rendering: bool
    category: str
    channel: Channel
    api: str
    rationale: str
    tos_reviewed_at: str | None
    tos_allows_crawling: bool | None
    origin: Literal["preset", "registered"]
    channel_now: Channel = Field(description="Its channel, by what geomi knows now.")
    channel_why: str
    library_id: str = Field(description="The id of its library in its source; empty if unknown.")
    derived: dict[str, str] = Field(
        description="In the answer to a registration: fields that geomi derived, and from what."
    )


class ProviderListResponse(ResponseModel):
    """Every provider, by its key."""

    providers: tuple[ProviderResponse, ...]


class ProviderErasedResponse(ResponseModel):
    """What was erased of a provider, over all tenants (LEG-06)."""

    provider: str
    reason: str
    at: datetime
    crawls: int
    pages: int
    other_crawls: tuple[str, ...] = Field(
        description="Other crawls of its hosts; they are still there."
    )

    @classmethod
    def of(cls, erased: ErasedProvider) -> ProviderErasedResponse:
        """Write what was erased."""
        return cls(
            provider=erased.key,
            reason=erased.reason,
            at=moment(erased.at_s),
            crawls=erased.jobs,
            pages=erased.pages,
            other_crawls=erased.other_jobs,
        )


def provider_response(
    provider: Provider,
    decision: ChannelDecision,
    *,
    is_preset: bool,
    derived: Mapping[str, str],
) -> ProviderResponse:
    """Write a provider, and by which channel its documents come."""
    return ProviderResponse.from_fields(
        provider,
        custom_selectors=ProviderSelectors.from_fields(provider.custom_selectors),
        origin="preset" if is_preset else "registered",
        channel_now=decision.channel,
        channel_why=decision.why,
        library_id=decision.library,
        derived=dict(derived),
    )
