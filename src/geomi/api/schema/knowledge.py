"""Collections, documents, search and explanations on the wire."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Self

import orjson
from pydantic import ConfigDict, Field

from geomi.analyse.page_text import read_text
from geomi.api.schema.analysis import ContentAnalysisResponse
from geomi.api.schema.safety import ContentFlagsResponse
from geomi.api.schema.wire import (
    MAX_LIMIT,
    WHOLE,
    Line,
    ListQuery,
    Moment,
    Name,
    RequestModel,
    ResponseModel,
    Title,
    moment,
)
from geomi.engine.inspect.why import Explanation
from geomi.engine.visit.record import RecordFields, article_of
from geomi.model.index.analysis import PageType
from geomi.model.index.document import CollectionCounts, DocumentRow, DocumentState
from geomi.model.index.search import Filters, Hit, SearchResults
from geomi.service.collections import Collection
from geomi.service.documents import DocumentText, wire_id

MAX_TEXT_CHARS = 2_000_000  # as much as `extract.max_markdown_chars` lets through by default

Names = Annotated[tuple[Name, ...], Field(max_length=20)]
SiteName = Annotated[str, Field(max_length=253, pattern=r"^[A-Za-z0-9.\[\]:_-]+$")]
Language = Annotated[str, Field(pattern=r"^[a-z]{2,3}$")]


class CollectionRequest(RequestModel):
    """A collection to create."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"collectionId": "handbook", "title": "The handbook"}]}
    )

    collection_id: Name
    title: Title = ""
    description: Line = ""


class CollectionResponse(ResponseModel):
    """A collection, and how many documents it has."""

    collection_id: str = Field(examples=["handbook"])
    title: str
    description: str
    created_at: datetime
    indexed: int = Field(description="Documents that search can find.")
    skipped: int = Field(description="Pages that geomi does not index.")
    failed: int
    chunks: int

    @classmethod
    def of(cls, one: Collection, counts: CollectionCounts | None) -> CollectionResponse:
        """Write a collection."""
        return cls(
            collection_id=one.name,
            title=one.title,
            description=one.description,
            created_at=moment(one.created_at_s),
            indexed=counts.indexed if counts else 0,
            skipped=counts.skipped if counts else 0,
            failed=counts.failed if counts else 0,
            chunks=counts.chunks if counts else 0,
        )


class CollectionListResponse(ResponseModel):
    """Some collections, by their ids."""

    collections: tuple[CollectionResponse, ...]
    next_cursor: str | None = None


class DocumentListQuery(ListQuery):
    """The documents of a collection to list."""

    state: DocumentState | None = None


class AllDocumentsQuery(DocumentListQuery):
    """The documents to list."""

    collection_id: Name | None = None


class DocumentResponse(ResponseModel):
    """A document, without its text."""

    document_id: str = Field(examples=["handbook:0f1e2d3c4b5a69788796a5b4c3d2e1f0"])
    collection_id: str
    url: str
    title: str
    site: str
    crawl_job_id: str
    state: DocumentState
    reason: str = Field(description="Why geomi indexes it, or not.")
    detail: str
    page_type: str | None
    language: str | None
    quality: float | None
    chunks: int
    content_flags: ContentFlagsResponse
    updated_at: datetime

    @classmethod
    def of(cls, row: DocumentRow, **more: object) -> Self:
        """Write a document."""
        return cls.from_fields(
            row,
            document_id=wire_id(row.id),
            collection_id=row.collection,
            crawl_job_id=row.job,
            page_type=row.page_type or None,
            language=row.language or None,
            content_flags=ContentFlagsResponse.of(orjson.loads(row.analysis)),
            updated_at=moment(row.updated_at_s),
            **more,
        )


class DocumentListResponse(ResponseModel):
    """Some documents, by their ids."""

    documents: tuple[DocumentResponse, ...]
    next_cursor: str | None = None


class DocumentLinkResponse(ResponseModel):
    """A link of a document's page."""

    url: str
    text: str
    is_internal: bool
    rel: str | None


class FullDocumentResponse(DocumentResponse):
    """A document with its page, its text and its whole analysis.

    If its page is gone, the fields of the page are null.
    """

    final_url: str | None = Field(description="Where redirects led.")
    http_status: int | None
    content_type: str | None
    content_length: int | None = Field(description="Bytes of the body.")
    html: str | None = Field(
        description="The page as its site sent it; null if geomi keeps no responses."
    )
    markdown: str | None
    text: str | None = Field(description="The markdown without its marks and without code.")
    description: str | None
    links: tuple[DocumentLinkResponse, ...]
    canonical_url: str | None
    published_at: str | None = Field(description="As the page says it.")
    modified_at: str | None
    author: str | None
    fetched_at: datetime | None
    fetch_time_ms: int | None
    render_time_ms: int | None = Field(description="Null if no browser rendered the page.")
    error: str | None = Field(description="Why geomi could not analyse the page.")
    analysis: ContentAnalysisResponse | None = Field(
        description="Null if geomi could not analyse the page."
    )

    @classmethod
    def read(cls, reading: DocumentText) -> Self:
        """Write a document with its page."""
        row, page = reading.row, reading.page
        has_failed = row.state is DocumentState.FAILED
        return cls.of(
            row,
            **(_PAGE_GONE if page is None else _page_fields(page)),
            html=reading.html,
            render_time_ms=None,
            error=row.detail if has_failed else None,
            analysis=None
            if has_failed
            else ContentAnalysisResponse.of(reading.analysis, suggested=reading.suggested),
        )


_PAGE_GONE: dict[str, object] = dict.fromkeys(
    "final_url http_status content_type content_length markdown text description canonical_url "
    "published_at modified_at author fetched_at fetch_time_ms".split()
) | {"links": ()}


def _page_fields(page: RecordFields) -> dict[str, object]:
    """Give what is recorded of a page the names of the catalogue's `FetchResult`."""
    article = article_of(page)
    return {
        "final_url": page["final_url"],
        "http_status": page["status"],
        "content_type": page["content_type"] or None,
        "content_length": page["bytes"],
        "markdown": page["markdown"],
        "text": read_text(page["markdown"], MAX_TEXT_CHARS).text,
        "description": page["description"] or None,
        "links": tuple(
            DocumentLinkResponse(
                url=link["url"],
                text=link["text"],
                is_internal=link["internal"],
                rel=link["rel"] or None,
            )
            for link in page["links"]
        ),
        "canonical_url": article.canonical or None,
        "published_at": article.published_at or None,
        "modified_at": article.modified_at or None,
        "author": article.author or None,
        "fetched_at": page["fetched_at"],
        "fetch_time_ms": page["fetch_ms"],
    }


class SearchRequest(RequestModel):
    """A search in the documents."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"query": "how long is data kept", "limit": 5}]}
    )

    query: Annotated[str, Field(min_length=1, max_length=1000, pattern=r"^[^\x00]*$")]
    collection_ids: Names = ()
    sites: Annotated[tuple[SiteName, ...], Field(max_length=20)] = ()
    page_types: Annotated[tuple[PageType, ...], Field(max_length=len(PageType))] = ()
    languages: Annotated[tuple[Language, ...], Field(max_length=20)] = ()
    since: Moment | None = None
    until: Moment | None = None
    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT), WHOLE] = 10

    def filters(self) -> Filters:
        """Return which documents count."""
        return Filters(
            collections=self.collection_ids,
            sites=self.sites,
            page_types=tuple(one.value for one in self.page_types),
            languages=self.languages,
            since_s=self.since.timestamp() if self.since else None,
            until_s=self.until.timestamp() if self.until else None,
        )


class SearchHitResponse(ResponseModel):
    """One result: a quotation with its source."""

    url: str
    title: str
    headings: tuple[str, ...]
    quotation: str = Field(max_length=200)
    marks: tuple[tuple[int, int], ...] = Field(description="The places of the query's words.")
    score: float
    document_id: str
    collection_id: str
    site: str
    page_type: str | None
    language: str | None
    content_flags: ContentFlagsResponse
    date: datetime

    @classmethod
    def of(cls, hit: Hit, kept: Mapping[str, object]) -> SearchHitResponse:
        """Write an answer.

        Args:
            kept: the analysis of its document; empty if that is gone.
        """
        passage = hit.passage
        return cls.from_fields(
            passage,
            quotation=hit.snippet.text,
            marks=hit.snippet.marks,
            score=round(hit.score, 6),
            document_id=wire_id(passage.key.document),
            collection_id=passage.collection,
            page_type=passage.page_type or None,
            language=passage.language or None,
            content_flags=ContentFlagsResponse.of(kept),
            date=moment(passage.date_s),
        )


class SearchResponse(ResponseModel):
    """The results of a search, best first."""

    results: tuple[SearchHitResponse, ...]
    problem: str | None = Field(description="Why the search could not use vectors.")

    @classmethod
    def of(
        cls, found: SearchResults, analyses: Mapping[str, Mapping[str, object]]
    ) -> SearchResponse:
        """Write answers.

        Args:
            analyses: of the documents, by their ids in the store.
        """
        return cls(
            results=tuple(
                SearchHitResponse.of(hit, analyses.get(hit.passage.key.document, {}))
                for hit in found.hits
            ),
            problem=found.problem or None,
        )


class WhyStepResponse(ResponseModel):
    """One check, in the order a page meets them."""

    name: str
    admitted: bool
    rule: str
    detail: str
    hint: str


class WhyResponse(ResponseModel):
    """Why a URL was, or was not, collected."""

    url: str
    job_id: str
    answer: str = Field(examples=["fetched and kept"])
    decided_by: str = Field(examples=["outcome.ok"])
    detail: str
    hint: str
    steps: tuple[WhyStepResponse, ...]

    @classmethod
    def of(cls, told: Explanation) -> WhyResponse:
        """Write an explanation."""
        return cls.from_fields(
            told,
            job_id=told.job,
            steps=tuple(
                WhyStepResponse.from_fields(step.verdict, name=step.name) for step in told.steps
            ),
        )
