"""A tenant's documents: what was understood of its pages, their text, and how they go."""

from __future__ import annotations

import re
from dataclasses import dataclass

import orjson

from geomi.engine.visit.record import read_line
from geomi.errors import BytesMissing, UnknownName
from geomi.model.index.document import DocumentFilter, DocumentRow
from geomi.model.index.search import IndexScope
from geomi.service.open import Desk

# A collection's id has no colon, so that this can be taken apart again; the slash of the id in the
# store would end a part of a path.
ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}:[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class Reading:
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
    if not ID.fullmatch(text):
        raise UnknownName(f"no document is called `{text[:140]}`")
    return "/".join(text.rsplit(":", 1))


async def find(desk: Desk, name: str) -> DocumentRow:
    """Find a document."""
    row = await desk.world.documents.get(own_id(name))
    if row is None:
        raise UnknownName(f"no document is called `{name}`")
    return row


async def read(desk: Desk, name: str) -> Reading:
    """Find a document and its text."""
    row = await find(desk, name)
    return Reading(row, orjson.loads(row.analysis), await _markdown(desk, row))


async def page(desk: Desk, which: DocumentFilter, *, after: str, limit: int) -> list[DocumentRow]:
    """List documents in the order of their ids, for paging."""
    return await desk.world.documents.list(which, after=after, limit=limit)


async def delete(desk: Desk, name: str) -> None:
    """Take a document out of its collection; a later crawl of its page may bring it back."""
    row = await find(desk, name)
    index = (await desk.shelf()).index
    await index.delete(IndexScope.DOCUMENT, row.id)
    await index.scrub()
    await desk.world.documents.drop([row.id])


async def _markdown(desk: Desk, row: DocumentRow) -> str | None:
    page = await desk.world.pages.get(row.url_hash)
    if page is None:
        return None
    try:
        return read_line(await desk.world.archive.read(page.record))["markdown"]
    except BytesMissing:
        return None
