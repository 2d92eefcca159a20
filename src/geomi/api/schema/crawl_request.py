"""The request of a crawl (API-01…API-07, CFG-12…CFG-17), and which field is which setting."""

from __future__ import annotations

from typing import Annotated, Literal

import orjson
from pydantic import ConfigDict, Field, JsonValue
from pydantic.config import JsonDict

from geomi.api.schema.wire import WHOLE, Flag, HttpUrl, Name, Number, Pattern, RequestModel
from geomi.model.config import Render, Within
from geomi.model.index.analysis import WantedType
from geomi.service.crawling.orders import (
    MAX_HOSTS,
    MAX_PATTERNS,
    MAX_SEEDS,
    MAX_SITEMAPS,
    MIB,
    CrawlOrder,
)

MAX_TYPES = 20
MAX_JOB_BYTES = 100 * 1024 * MIB

ProfileName = Literal["default", "docs", "knowledge-base"]
PageTypeName = Literal["article", "product", "faq", "policy", "landing", "contact"]
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
    "content_types": "http.content_types",
}


class CrawlSettings(RequestModel):
    """How a crawl behaves; what is left out is as the profile has it."""

    max_depth: Annotated[int, Field(ge=1, le=10), WHOLE] = 3
    max_pages: Annotated[int, Field(ge=1, le=10_000), WHOLE] = 100
    max_duration: Annotated[int, Field(ge=1, le=86_400, description="Seconds of work."), WHOLE] = (
        3600
    )
    max_bytes: Annotated[
        int, Field(ge=1, le=MAX_JOB_BYTES, description="Bytes received, all pages together."), WHOLE
    ] = 100 * MIB
    include_patterns: Patterns = ()
    exclude_patterns: Patterns = ()
    allowed_domains: Annotated[
        tuple[Host, ...], Field(max_length=MAX_HOSTS, description="Left out: the seeds' hosts.")
    ] = ()
    follow_external_links: Flag = False
    respect_robots_txt: Flag = True
    render_java_script: Annotated[
        Flag, Field(description="Rendered where it is needed and a renderer is there.")
    ] = True
    requests_per_second: Annotated[Number, Field(ge=0.1, le=5)] = 1
    delay_between_requests: Annotated[
        int,
        Field(ge=0, le=3_600_000, description="Least milliseconds between two requests."),
        WHOLE,
    ] = 1000
    min_content_length: Annotated[int, Field(ge=0, le=1_000_000), WHOLE] = 100
    max_content_length: Annotated[int, Field(ge=1000, le=10_000_000), WHOLE] = 100_000
    content_types: Annotated[
        tuple[MediaType, ...],
        Field(min_length=1, max_length=MAX_TYPES, description="Left out: all that can be read."),
    ] = ("text/html",)
    enable_classification: Flag = True
    enable_quality_check: Flag = True
    quality_threshold: Annotated[Number, Field(ge=0, le=10)] = 5
    target_content_types: Annotated[
        tuple[PageTypeName, ...], Field(max_length=len(WantedType))
    ] = ()
    extraction_schema: Annotated[
        dict[str, JsonValue] | None,
        Field(description="Fields that every page is asked for: a JSON Schema without references."),
    ] = None

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
        if self.allowed_domains:
            told |= {"scope.within": Within.LIST.value, "scope.hosts": self.allowed_domains}
        if self.extraction_schema is not None:
            told["analysis.schema"] = orjson.dumps(self.extraction_schema).decode()
        if self.follow_external_links:
            told["scope.within"] = Within.ANY.value
        return told


def _alias(name: str) -> str:
    return CrawlSettings.model_fields[name].alias or name


# What a request calls each setting that the service may complain of.
SETTING_NAMES = {key: f"config.{_alias(name)}" for name, key in _SETTINGS.items()} | {
    "politeness.delay_s": "config.delayBetweenRequests",
    "analysis.schema": "config.extractionSchema",
    "scope.hosts": "config.allowedDomains",
    "scope.within": "config.followExternalLinks",
}

_EXAMPLE: JsonDict = {
    "collectionId": "handbook",
    "seedUrls": ["https://docs.example.com/"],
    "config": {"maxDepth": 2, "maxPages": 50, "excludePatterns": ["/archive/**"]},
}


class CrawlRequest(RequestModel):
    """A crawl to be started."""

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
