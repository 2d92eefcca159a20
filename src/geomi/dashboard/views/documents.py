"""Documents: their list by collection, and the page of one document."""

from __future__ import annotations

import re

from fastapi import APIRouter
from starlette.responses import Response

from geomi.api.guard import needs
from geomi.api.paging import cut_to_limit, decode_cursor
from geomi.dashboard.form import choice
from geomi.dashboard.guard import DashboardRequestDep, PageRoute
from geomi.dashboard.markdown import blocks
from geomi.model.index.document import DocumentFilter, DocumentState
from geomi.service import collections, documents
from geomi.service.access.keys import KeyScope
from geomi.service.documents import wire_id

SHOWN = 30
COLLECTIONS = 100
MAX_SOURCE_CHARS = 200_000  # of markdown, shown as it is

_STORED = re.compile(r".{1,100}/[0-9a-f]{32}")

router = APIRouter(route_class=PageRoute, include_in_schema=False)
READ, WRITE = needs(KeyScope.READ), needs(KeyScope.WRITE)


@router.get("/documents", openapi_extra=READ)
async def list_documents(visit: DashboardRequestDep) -> Response:
    """List collections, and the documents of one of them or of all."""
    which = DocumentFilter(
        collection=visit.asked("collection")[:100],
        state=choice(DocumentState, visit.asked("state")),
    )
    after = decode_cursor(visit.asked("cursor") or None, _STORED)
    found = await documents.page(visit.desk, which, after=after, limit=SHOWN + 1)
    shown, cursor = cut_to_limit(found, SHOWN, lambda row: row.id)
    return visit.page(
        "documents.html",
        rows=[(wire_id(row.id), row) for row in shown],
        cursor=cursor,
        which=which,
        states=tuple(DocumentState),
        collections=await collections.page(visit.desk, after="", limit=COLLECTIONS),
        counts=await collections.counts(visit.desk),
    )


@router.get("/documents/{document_id}", openapi_extra=READ)
async def read(document_id: str, visit: DashboardRequestDep) -> Response:
    """Show a document: its text in our own shapes, and its markdown as it is."""
    reading = await documents.read(visit.desk, document_id)
    markdown = reading.markdown or ""
    return visit.page(
        "document.html",
        name=document_id,
        row=reading.row,
        is_gone=reading.markdown is None,
        blocks=blocks(markdown),
        source=markdown[:MAX_SOURCE_CHARS],
        is_cut=len(markdown) > MAX_SOURCE_CHARS,
    )


@router.post("/documents/{document_id}/delete", openapi_extra=WRITE, operation_id="deleteDocument")
async def delete(document_id: str, visit: DashboardRequestDep) -> Response:
    """Take a document out of its collection."""
    await documents.delete(visit.desk, document_id)
    return visit.go("/documents")
