"""A preview, and the three operations of a knowledge base, on the wire."""

from __future__ import annotations

from typing import Annotated

import orjson
from pydantic import ConfigDict, Field

from geomi.api.schema.analysis import (
    ClassificationResponse,
    ContentAnalysisResponse,
    DecisionResponse,
    QualityResponse,
)
from geomi.api.schema.crawl import CrawlResponse
from geomi.api.schema.wire import WHOLE, Flag, HttpUrl, Name, RequestModel, ResponseModel
from geomi.engine.enrich.document import analysis_json
from geomi.service.crawling.previews import MAX_LINKS, MAX_PREVIEW_CHARS, PreviewedPage
from geomi.url.parse import parse as parse_url

_PAGE = "https://docs.example.com/start"


class PreviewRequest(RequestModel):
    """A page to preview."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"url": _PAGE}]})

    url: HttpUrl
    render_java_script: Flag = True


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
    decision: DecisionResponse
    links: tuple[LinkResponse, ...] = Field(max_length=MAX_LINKS)

    @classmethod
    def of(cls, previewed: PreviewedPage) -> PreviewResponse:
        """Write a preview."""
        seen = previewed.seen
        here = parse_url(seen.final_url)
        host = here.host if here else ""
        kept = orjson.loads(analysis_json(seen.analysis))
        analysis = ContentAnalysisResponse.of(kept, suggested=previewed.suggested)
        return cls(
            url=seen.url,
            final_url=seen.final_url,
            title=seen.article.title,
            content_preview=seen.article.text[:MAX_PREVIEW_CHARS],
            classification=analysis.classification,
            quality=analysis.quality,
            decision=analysis.decision,
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
