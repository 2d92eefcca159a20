"""List, read, search and delete a tenant's documents, and explain why a URL is one or not.

A search uses the present index; another process enriches beside it. A deleted document may come
back with a later crawl of its page.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import orjson

from geomi.app.use import providers
from geomi.engine.enrich.search import search as ask
from geomi.engine.inspect.why import Explanation
from geomi.engine.inspect.why import explain as explain_url
from geomi.engine.jobs import read_seeds
from geomi.engine.visit.record import RecordFields, read_line
from geomi.errors import BytesMissing, UnknownName
from geomi.extract.dom import XHTML, decode_plain
from geomi.fetch.response import media_type
from geomi.model.index.document import DocumentFilter, DocumentRow
from geomi.model.index.search import Filters, IndexScope, SearchResults
from geomi.model.page import CaptureRow, Ref
from geomi.service import collections
from geomi.service.crawling import crawls
from geomi.service.crawling.crawls import in_field
from geomi.service.service import TenantService

# A collection's id has no colon, so that this can be taken apart again; the slash of the id in the
# store would end a part of a path.
DOCUMENT_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}:[0-9a-f]{32}")
MAX_QUERY_CHARS = 1000
HTML_TYPES = frozenset({"text/html", XHTML})


@dataclass(frozen=True, slots=True)
class DocumentText:
    """A document and its text.

    Args:
        suggested: the collection that it belongs into by its type, if it is not its own.
        page: its page as it was recorded; None where it is gone.
        html: the page as its site sent it; None where that is not kept, or was not asked for.
    """

    row: DocumentRow
    analysis: dict[str, object]
    suggested: str | None
    page: RecordFields | None
    html: str | None = None

    @property
    def markdown(self) -> str | None:
        """Its text; None where its page is gone."""
        return self.page["markdown"] if self.page else None


def wire_id(document: str) -> str:
    """Return a document's id as requests name it."""
    return ":".join(document.rsplit("/", 1))


def own_id(text: str) -> str:
    """Return the id in the store of a document that a request names."""
    if not DOCUMENT_ID.fullmatch(text):
        raise UnknownName(f"there is no document `{text[:140]}`")
    return "/".join(text.rsplit(":", 1))


async def find(desk: TenantService, name: str) -> DocumentRow:
    """Find a document."""
    row = await desk.world.store.documents.get(own_id(name))
    if row is None:
        raise UnknownName(f"there is no document `{name}`")
    return row


async def read(desk: TenantService, name: str, *, with_html: bool = False) -> DocumentText:
    """Find a document and its text.

    They are those of its own capture: another crawl of the same page may keep what this one
    removed, such as personal data.

    Args:
        with_html: read the page as its site sent it, too, if that is kept and is HTML.
    """
    row = await find(desk, name)
    analysis = orjson.loads(row.analysis)
    suggested = await collections.suggest(desk, row.page_type, own=row.collection)
    capture = await _capture(desk, row)
    record = await _bytes(desk, capture.record) if capture else None
    if capture is None or record is None:
        return DocumentText(row, analysis, suggested, None)
    fields = read_line(record)
    html = await _html(desk, capture, fields["content_type"]) if with_html else None
    return DocumentText(row, analysis, suggested, fields, html)


async def page(
    desk: TenantService, which: DocumentFilter, *, after: str, limit: int
) -> list[DocumentRow]:
    """List documents in the order of their ids, for paging."""
    return await desk.world.store.documents.list(which, after=after, limit=limit)


async def delete(desk: TenantService, name: str) -> None:
    """Delete a document; a later crawl of its page may bring it back."""
    row = await find(desk, name)
    index = (await desk.search_index()).index
    await index.delete(IndexScope.DOCUMENT, row.id)
    await index.scrub()
    await desk.world.store.documents.drop([row.id])


async def _capture(desk: TenantService, row: DocumentRow) -> CaptureRow | None:
    """Return the capture that a document was made of; None where it is gone."""
    found = await desk.world.store.pages.feed(row.job, after=row.capture - 1, limit=1)
    return found[0] if found and found[0].seq == row.capture else None


async def _bytes(desk: TenantService, place: Ref | None) -> bytes | None:
    """Return what lies at a place of the archive; None where it is gone, or was never kept."""
    try:
        return await desk.world.archive.read(place) if place else None
    except BytesMissing:
        return None


async def _html(desk: TenantService, capture: CaptureRow, content_type: str) -> str | None:
    if media_type(content_type) not in HTML_TYPES:
        return None
    response = await _bytes(desk, capture.response)
    if response is None:
        return None
    return decode_plain(response.partition(b"\r\n\r\n")[2], content_type)


async def search(desk: TenantService, query: str, filters: Filters, *, limit: int) -> SearchResults:
    """Answer a query from the present index; another process enriches meanwhile."""
    search_index = await desk.search_index()
    return await desk.cpu.spend(
        ask,
        search_index.index,
        query,
        filters=filters,
        limit=limit,
        embedder=search_index.embedder,
    )


async def analyses(desk: TenantService, names: Iterable[str]) -> dict[str, dict[str, object]]:
    """Return what is understood of some documents, by their ids in the store."""
    rows = [await desk.world.store.documents.get(name) for name in dict.fromkeys(names)]
    return {row.id: orjson.loads(row.analysis) for row in rows if row is not None}


async def explain(desk: TenantService, job_id: str, url: str) -> Explanation:
    """Say why a URL of a crawl was, or was not, collected."""
    job = await crawls.find(desk, job_id)
    with in_field("url"):
        (asked,) = read_seeds([url])
    reviews = await providers.read_site_decisions(desk.world.store)
    return await desk.cpu.spend(explain_url, desk.world, job, asked, reviews)
