"""Collections, documents, search, and why a URL was collected or not."""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from geomi.api.guard import GuardedRoute, TenantServiceDep, needs
from geomi.api.paging import cut_to_limit, decode_cursor
from geomi.api.routes.crawls import JobId
from geomi.api.schema.knowledge import (
    AllDocumentsQuery,
    CollectionListResponse,
    CollectionRequest,
    CollectionResponse,
    DocumentListQuery,
    DocumentListResponse,
    DocumentResponse,
    FullDocumentResponse,
    SearchRequest,
    SearchResponse,
    WhyResponse,
)
from geomi.api.schema.wire import HttpUrl, ListQuery, RequestModel
from geomi.model.index.document import DocumentFilter, DocumentState
from geomi.service import collections, documents
from geomi.service.access.keys import KeyScope
from geomi.service.service import TenantService

router = APIRouter(route_class=GuardedRoute)
READ, WRITE = needs(KeyScope.READ), needs(KeyScope.WRITE)

CollectionId = Annotated[
    str,
    Path(
        alias="collectionId",
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$",
        examples=["handbook"],
    ),
]
DocumentId = Annotated[
    str,
    Path(
        alias="documentId",
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}:[0-9a-f]{32}$",
        examples=["handbook:0f1e2d3c4b5a69788796a5b4c3d2e1f0"],
    ),
]
_STORED = re.compile(r".{1,100}/[0-9a-f]{32}")


class WhyQuery(RequestModel):
    """The URL to explain."""

    url: HttpUrl


@router.post(
    "/collections",
    operation_id="createCollection",
    status_code=HTTPStatus.CREATED,
    openapi_extra=WRITE,
    summary="Create a collection",
    tags=["collections"],
)
async def create(
    asked: CollectionRequest, desk: TenantServiceDep, response: Response
) -> CollectionResponse:
    """Create a collection; a crawl that names a missing one creates it, too."""
    made = await collections.create(
        desk, asked.collection_id, title=asked.title, description=asked.description
    )
    response.headers["Location"] = f"/api/v1/collections/{made.name}"
    return CollectionResponse.of(made, None)


@router.get(
    "/collections",
    operation_id="listCollections",
    openapi_extra=READ,
    summary="List collections",
    tags=["collections"],
)
async def list_collections(
    wanted: Annotated[ListQuery, Query()], desk: TenantServiceDep
) -> CollectionListResponse:
    """List the tenant's collections by their ids."""
    after = decode_cursor(wanted.cursor, collections.NAME)
    found = await collections.page(desk, after=after, limit=wanted.limit + 1)
    shown, cursor = cut_to_limit(found, wanted.limit, lambda one: one.name)
    counts = await collections.counts(desk)
    return CollectionListResponse(
        collections=tuple(CollectionResponse.of(one, counts.get(one.name)) for one in shown),
        next_cursor=cursor,
    )


@router.get(
    "/collections/{collectionId}",
    operation_id="getCollection",
    openapi_extra=READ,
    summary="Show a collection",
    tags=["collections"],
)
async def get(collection_id: CollectionId, desk: TenantServiceDep) -> CollectionResponse:
    """Return a collection and how many documents it has."""
    found = await collections.find(desk, collection_id)
    return CollectionResponse.of(found, (await collections.counts(desk)).get(found.name))


@router.delete(
    "/collections/{collectionId}",
    operation_id="deleteCollection",
    status_code=HTTPStatus.NO_CONTENT,
    openapi_extra=WRITE,
    summary="Delete a collection",
    tags=["collections"],
)
async def delete(collection_id: CollectionId, desk: TenantServiceDep) -> None:
    """Delete a collection and its documents; a 409 while a crawl fills it."""
    await collections.delete(desk, collection_id)


@router.get(
    "/collections/{collectionId}/documents",
    operation_id="listCollectionDocuments",
    openapi_extra=READ,
    summary="List the documents of a collection",
    tags=["documents"],
)
async def list_of_collection(
    collection_id: CollectionId,
    wanted: Annotated[DocumentListQuery, Query()],
    desk: TenantServiceDep,
) -> DocumentListResponse:
    """List documents by their ids, also those that are not indexed."""
    await collections.find(desk, collection_id)
    return await _documents(desk, wanted, collection_id, wanted.state)


@router.get(
    "/documents",
    operation_id="listDocuments",
    openapi_extra=READ,
    summary="List documents",
    tags=["documents"],
)
async def list_documents(
    wanted: Annotated[AllDocumentsQuery, Query()], desk: TenantServiceDep
) -> DocumentListResponse:
    """List the tenant's documents by their ids."""
    return await _documents(desk, wanted, wanted.collection_id or "", wanted.state)


@router.get(
    "/documents/{documentId}",
    operation_id="getDocument",
    openapi_extra=READ,
    summary="Show a document",
    tags=["documents"],
)
async def read(document_id: DocumentId, desk: TenantServiceDep) -> FullDocumentResponse:
    """Return a document with its page, its text as markdown, and its analysis."""
    return FullDocumentResponse.read(await documents.read(desk, document_id, with_html=True))


@router.delete(
    "/documents/{documentId}",
    operation_id="deleteDocument",
    status_code=HTTPStatus.NO_CONTENT,
    openapi_extra=WRITE,
    summary="Delete a document",
    tags=["documents"],
)
async def delete_document(document_id: DocumentId, desk: TenantServiceDep) -> None:
    """Delete a document; a later crawl of its page may bring it back."""
    await documents.delete(desk, document_id)


@router.post(
    "/search",
    operation_id="search",
    openapi_extra=READ,
    summary="Search documents",
    tags=["search"],
)
async def find(asked: SearchRequest, desk: TenantServiceDep) -> SearchResponse:
    """Search documents; the results are quotations of at most 200 characters with their sources."""
    found = await documents.search(desk, asked.query, asked.filters(), limit=asked.limit)
    named = (hit.passage.key.document for hit in found.hits)
    return SearchResponse.of(found, await documents.analyses(desk, named))


@router.get(
    "/crawls/{jobId}/why",
    operation_id="explainUrl",
    openapi_extra=READ,
    summary="Explain why a URL was collected, or not",
    tags=["crawls"],
)
async def why(
    job_id: JobId, wanted: Annotated[WhyQuery, Query()], desk: TenantServiceDep
) -> WhyResponse:
    """Return the rule that decided about a URL, and what would change the decision."""
    return WhyResponse.of(await documents.explain(desk, job_id, wanted.url))


async def _documents(
    desk: TenantService, wanted: ListQuery, collection: str, state: DocumentState | None
) -> DocumentListResponse:
    after = decode_cursor(wanted.cursor, _STORED)
    which = DocumentFilter(collection=collection, state=state)
    found = await documents.page(desk, which, after=after, limit=wanted.limit + 1)
    shown, cursor = cut_to_limit(found, wanted.limit, lambda row: row.id)
    return DocumentListResponse(
        documents=tuple(DocumentResponse.of(row) for row in shown), next_cursor=cursor
    )
