"""A preview, and the three operations of a knowledge base, on the wire."""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, Field

from geomi.api.schema.crawl import CrawlResponse
from geomi.api.schema.wire import WHOLE, Flag, HttpUrl, Name, RequestModel, ResponseModel
from geomi.engine.survey.preview import Preview
from geomi.model.index.analysis import PageQuality, PageType
from geomi.service.crawling.previews import MAX_LINKS, MAX_PREVIEW_CHARS
from geomi.url.parse import parse as parse_url

_PAGE = "https://docs.example.com/start"


class PreviewRequest(RequestModel):
    """A page to preview."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"url": _PAGE}]})

    url: HttpUrl
    render_java_script: Flag = True


class ClassificationResponse(ResponseModel):
    """The type of a page."""

    page_type: PageType
    confidence: float
    subtypes: tuple[str, ...]
    reasoning: str


class QualityResponse(ResponseModel):
    """The quality of a page, from 0 to 10; null means "cannot be known"."""

    overall: float
    depth: float
    readability: float
    relevance: float | None
    originality: float | None
    flags: dict[str, bool | None]

    @classmethod
    def of(cls, found: PageQuality) -> QualityResponse:
        """Write a quality."""
        return cls.from_fields(found, flags={flag.value: is_up for flag, is_up in found.flags})


class LinkResponse(ResponseModel):
    """A link of a page."""

    url: str
    text: str
    is_internal: bool


class PreviewResponse(ResponseModel):
    """A page as a crawl would collect it; nothing is stored (API-12)."""

    url: str
    final_url: str
    title: str
    content_preview: str = Field(max_length=MAX_PREVIEW_CHARS)
    classification: ClassificationResponse | None
    quality: QualityResponse | None
    should_index: bool
    index_reason: str
    links: tuple[LinkResponse, ...] = Field(max_length=MAX_LINKS)

    @classmethod
    def of(cls, seen: Preview) -> PreviewResponse:
        """Write a preview."""
        analysis, here = seen.analysis, parse_url(seen.final_url)
        host = here.host if here else ""
        kind, quality = analysis.classification, analysis.quality
        return cls(
            url=seen.url,
            final_url=seen.final_url,
            title=seen.article.title,
            content_preview=seen.article.text[:MAX_PREVIEW_CHARS],
            classification=ClassificationResponse.from_fields(kind) if kind else None,
            quality=QualityResponse.of(quality) if quality else None,
            should_index=analysis.decision.should_index,
            index_reason=analysis.decision.reason,
            links=tuple(
                LinkResponse(url=link.url, text=link.text, is_internal=_host(link.url) == host)
                for link in seen.article.links[:MAX_LINKS]
            ),
        )


class AddUrlRequest(RequestModel):
    """A page to collect."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"collectionId": "handbook", "url": _PAGE}]}
    )

    collection_id: Name
    url: HttpUrl


class AddSitemapRequest(RequestModel):
    """A sitemap with pages to collect."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "collectionId": "handbook",
                    "sitemapUrl": "https://docs.example.com/sitemap.xml",
                }
            ]
        }
    )

    collection_id: Name
    sitemap_url: HttpUrl
    max_pages: Annotated[int, Field(ge=1, le=10_000), WHOLE] = 100


class SyncRequest(RequestModel):
    """A collection to update."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"collectionId": "handbook"}]})

    collection_id: Name


class SyncResponse(ResponseModel):
    """The started crawls."""

    crawls: tuple[CrawlResponse, ...]


def _host(url: str) -> str:
    parsed = parse_url(url)
    return parsed.host if parsed else ""
