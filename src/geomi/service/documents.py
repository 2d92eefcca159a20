"""List, read, search and delete a tenant's documents, and explain why a URL is one or not.

A search uses the present index; another process enriches beside it. A deleted document may come
back with a later crawl of its page.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import orjson

from geomi.app.use import providers
from geomi.engine.enrich.search import search as ask
from geomi.engine.inspect.why import Explanation
from geomi.engine.inspect.why import explain as explain_url
from geomi.engine.jobs import read_seeds
from geomi.engine.visit.record import read_line
from geomi.errors import BytesMissing, UnknownName
from geomi.model.index.document import DocumentFilter, DocumentRow
from geomi.model.index.search import Filters, IndexScope, SearchResults
from geomi.service.crawling import crawls
from geomi.service.crawling.crawls import in_field
from geomi.service.service import TenantService

# A collection's id has no colon, so that this can be taken apart again; the slash of the id in the
# store would end a part of a path.
DOCUMENT_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}:[0-9a-f]{32}")
MAX_QUERY_CHARS = 1000


@dataclass(frozen=True, slots=True)
class DocumentText:
    """A document and its text.

    Args:
        markdown: None where its page is gone.
    """

    row: DocumentRow
    analysis: dict[str, object]
    markdown: str | None


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


async def read(desk: TenantService, name: str) -> DocumentText:
    """Find a document and its text."""
    row = await find(desk, name)
    return DocumentText(row, orjson.loads(row.analysis), await _markdown(desk, row))


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


async def _markdown(desk: TenantService, row: DocumentRow) -> str | None:
    page = await desk.world.store.pages.get(row.url_hash)
    if page is None:
        return None
    try:
        return read_line(await desk.world.archive.read(page.record))["markdown"]
    except BytesMissing:
        return None


async def search(desk: TenantService, query: str, filters: Filters, *, limit: int) -> SearchResults:
    """Answer a query from the present index; another process enriches meanwhile."""
    search_index = await desk.search_index()
    return await ask(
        search_index.index, query, filters=filters, limit=limit, embedder=search_index.embedder
    )


async def explain(desk: TenantService, job_id: str, url: str) -> Explanation:
    """Say why a URL of a crawl was, or was not, collected."""
    job = await crawls.find(desk, job_id)
    with in_field("url"):
        (asked,) = read_seeds([url])
    return await explain_url(
        desk.world, job, asked, await providers.read_site_decisions(desk.world.store)
    )
