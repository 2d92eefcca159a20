"""Search documents, and mark the words of the query in the quotations."""

from __future__ import annotations

from collections.abc import Iterator

from fastapi import APIRouter
from starlette.responses import Response

from geomi.api.guard import needs
from geomi.dashboard.guard import DashboardRequestDep, PageRoute
from geomi.model.index.search import Filters, SearchResults, Snippet
from geomi.service import collections, documents
from geomi.service.access.keys import KeyScope
from geomi.service.documents import MAX_QUERY_CHARS, wire_id

SHOWN = 20
COLLECTIONS = 100

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/search", openapi_extra=needs(KeyScope.READ))
async def find(visit: DashboardRequestDep) -> Response:
    """Answer a question, if there is one."""
    query = visit.asked("q")[:MAX_QUERY_CHARS]
    collection = visit.asked("collection")[:100]
    filters = Filters(collections=(collection,) if collection else ())
    found = SearchResults(())
    if query:
        found = await documents.search(visit.desk, query, filters, limit=SHOWN)
    return visit.page(
        "search.html",
        asked=query,
        collection=collection,
        collections=await collections.page(visit.desk, after="", limit=COLLECTIONS),
        hits=[
            (hit.passage, wire_id(hit.passage.key.document), tuple(_parts(hit.snippet)))
            for hit in found.hits
        ],
        problem=found.problem,
    )


def _parts(snippet: Snippet) -> Iterator[tuple[str, bool]]:
    """Take a quotation apart: what was looked for, and what is around it."""
    end = 0
    for start, stop in snippet.marks:
        if start > end:
            yield snippet.text[end:start], False
        yield snippet.text[start:stop], True
        end = stop
    if end < len(snippet.text):
        yield snippet.text[end:], False
