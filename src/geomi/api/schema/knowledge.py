"""Collections, documents, search and explanations on the wire."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Self

from pydantic import ConfigDict, Field

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
from geomi.model.index.analysis import PageType
from geomi.model.index.document import CollectionCounts, DocumentRow, DocumentState
from geomi.model.index.search import Filters, Hit, SearchResults
from geomi.service.collections import Collection
from geomi.service.documents import DocumentText, wire_id

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
            updated_at=moment(row.updated_at_s),
            **more,
        )


class DocumentListResponse(ResponseModel):
    """Some documents, by their ids."""

    documents: tuple[DocumentResponse, ...]
    next_cursor: str | None = None


class FullDocumentResponse(DocumentResponse):
    """A document with its text and its whole analysis."""

    markdown: str | None = Field(description="Null if its page is gone.")
    analysis: dict[str, object]

    @classmethod
    def read(cls, reading: DocumentText) -> Self:
        """Write a document with its text."""
        return cls.of(reading.row, markdown=reading.markdown, analysis=reading.analysis)


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
    date: datetime

    @classmethod
    def of(cls, hit: Hit) -> SearchHitResponse:
        """Write an answer."""
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
            date=moment(passage.date_s),
        )


class SearchResponse(ResponseModel):
    """The results of a search, best first."""

    results: tuple[SearchHitResponse, ...]
    problem: str | None = Field(description="Why the search could not use vectors.")

    @classmethod
    def of(cls, found: SearchResults) -> SearchResponse:
        """Write answers."""
        return cls(
            results=tuple(SearchHitResponse.of(hit) for hit in found.hits),
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
