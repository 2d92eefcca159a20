"""Create, list and delete a tenant's collections, in which search finds documents."""

from __future__ import annotations

import re
from dataclasses import dataclass

from geomi.analyse.decision import suggest_collection
from geomi.errors import FieldRefused, NameTaken, QuotaReached, UnknownName, WrongState
from geomi.model.index.analysis import PageType
from geomi.model.index.chunk import ChunkCounts
from geomi.model.index.document import CollectionCounts, DocumentFilter
from geomi.model.index.search import IndexScope
from geomi.model.job import JobFilter, JobState
from geomi.service.service import TenantService, ValueNamespace

NAMESPACE = "collections"
CHUNKS_NAMESPACE = "chunk-counts"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
MAX_COLLECTIONS = 1000
MAX_TITLE_CHARS = 200
MAX_DESCRIPTION_CHARS = 2000

_UNFINISHED = tuple(state for state in JobState if not state.is_final)


@dataclass(frozen=True, slots=True)
class Collection:
    """A place for documents."""

    name: str
    created_at_s: float
    title: str = ""
    description: str = ""


async def create(
    desk: TenantService, name: str, *, title: str = "", description: str = ""
) -> Collection:
    """Make a collection."""
    collection = Collection(_checked(name), desk.wall_s, title, description)
    if not await _add(desk, collection):
        raise NameTaken(f"collection `{name}` exists already")
    return collection


async def ensure(desk: TenantService, name: str) -> None:
    """Create a missing collection that a request names."""
    if await _values(desk).get(_checked(name)) is None:
        await _add(desk, Collection(name, desk.wall_s))


async def find(desk: TenantService, name: str) -> Collection:
    """Find a collection."""
    kept = await _values(desk).get(name) if NAME.fullmatch(name) else None
    if kept is None:
        raise UnknownName(f"there is no collection `{name[:100]}`")
    return kept.value


async def page(desk: TenantService, *, after: str, limit: int) -> list[Collection]:
    """List collections in the order of their names, for paging."""
    return [kept.value for kept in await _values(desk).list(after=after, limit=limit)]


async def suggest(desk: TenantService, page_type: str, *, own: str = "") -> str | None:
    """Return the collection that a page belongs into by its type, if it is not its own."""
    if not page_type:
        return None
    titles = {kept.value.name: kept.value.title for kept in await _values(desk).every()}
    return suggest_collection(PageType(page_type), own, titles)


async def counts(desk: TenantService) -> dict[str, CollectionCounts]:
    """Count the documents of every collection."""
    return {one.collection: one for one in await desk.world.store.documents.collections()}


async def delete(desk: TenantService, name: str) -> int:
    """Forget a collection and its documents; crawls that filled it stay in the list of crawls.

    Return how many documents there were.
    """
    await find(desk, name)
    for state in _UNFINISHED:
        busy = await desk.world.store.jobs.page(JobFilter(name, state), before="", limit=1)
        if busy:
            raise WrongState(
                f"crawl {busy[0].id} still fills collection `{name}`", hint="cancel it first"
            )
    index = (await desk.search_index()).index
    await index.delete(IndexScope.COLLECTION, name)
    await index.scrub()
    gone = await desk.world.store.documents.delete(DocumentFilter(collection=name))
    await chunk_values(desk).remove(name)
    await _values(desk).remove(name)
    return gone


async def keep_chunks(desk: TenantService, name: str, counts: ChunkCounts) -> None:
    """Keep how the chunks of a collection's newest finished crawl came out."""
    values = chunk_values(desk)
    if not await values.add(name, counts):
        await values.amend(name, lambda _: counts)


def chunk_values(desk: TenantService) -> ValueNamespace[ChunkCounts]:
    """Return what is kept of the chunks of each collection."""
    return ValueNamespace(desk.named_values, CHUNKS_NAMESPACE, ChunkCounts)


async def _add(desk: TenantService, collection: Collection) -> bool:
    if await _values(desk).count() >= MAX_COLLECTIONS:
        raise QuotaReached(f"there are {MAX_COLLECTIONS} collections, which is the limit")
    return await _values(desk).add(collection.name, collection)


def _checked(name: str) -> str:
    if not NAME.fullmatch(name):
        raise FieldRefused(
            f"`{name[:100]}` cannot be a collection's id",
            field="collectionId",
            hint="use letters, digits, dots, hyphens and underscores, at most 100",
        )
    return name


def _values(desk: TenantService) -> ValueNamespace[Collection]:
    return ValueNamespace(desk.named_values, NAMESPACE, Collection)
