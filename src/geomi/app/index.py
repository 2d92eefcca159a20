"""Open the search index of a data directory, bring it up to date, search it, and delete from it.

The index is a SQLite file in the directory, or the Lance table that the setting `index` names. A
search first indexes what was collected since, and waits a while for another process that does the
same. What cannot be indexed in that time is left out, and the result says so.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import ExitStack, asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path

from geomi.adapters.bucket_url import read_bucket_url
from geomi.adapters.index.lance import open_lance_index
from geomi.adapters.index.sqlite import open_sqlite_index
from geomi.app.directory import DataDirectory
from geomi.app.models import Models, open_models
from geomi.app.recovery import recover
from geomi.engine.enrich.loop import SearchIndex, enrich_again, enrich_all, is_behind, is_index_lost
from geomi.engine.enrich.search import search
from geomi.engine.visit.preview_text import erase_expired_texts
from geomi.model.index.search import Filters, IndexCounts, IndexScope, SearchResults
from geomi.ports.index import KeptIndex

FOLDER = "index"
# How long a search waits for another process that is putting pages into the index.
POLLS, POLL_S = 40, 0.25


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The answers to a query, what was looked through, and whether that was all there is.

    Args:
        left_out: pages that were collected and decided against.
    """

    found: SearchResults
    counts: IndexCounts
    left_out: int
    is_whole: bool


async def search_pages(
    home: DataDirectory, query: str, filters: Filters, *, limit: int, is_as_is: bool = False
) -> SearchResult:
    """Answer a query over all that was collected so far.

    Args:
        is_as_is: the index is taken as it is.
    """
    async with open_search_index(home) as shelf:
        if not is_as_is:
            await _update_patiently(home, shelf)
        found = await search(
            shelf.index, query, filters=filters, limit=limit, embedder=shelf.embedder
        )
        is_whole = not (
            await is_behind(home.world, shelf) or await is_index_lost(home.world, shelf)
        )
        kept = await home.world.store.documents.collections()
        left_out = sum(counts.skipped + counts.failed for counts in kept)
        return SearchResult(found, await shelf.index.count(), left_out, is_whole)


async def _update_patiently(home: DataDirectory, shelf: SearchIndex) -> None:
    """Put everything where it is found; what somebody else is at is waited for, for a while."""
    for _ in range(POLLS):
        if await update_index(home, shelf) or not await is_behind(home.world, shelf):
            return
        await asyncio.sleep(POLL_S)


async def update_index(
    home: DataDirectory,
    shelf: SearchIndex,
    *,
    only: str = "",
    again: bool = False,
    leave: asyncio.Event | None = None,
) -> int:
    """Put all that was collected so far where it is found; return how many pages were looked at.

    Args:
        again: also what has been put there.
    """
    await recover(home)  # whoever died while enriching holds the duty of it
    await erase_expired_texts(home.world)
    lost = await is_index_lost(home.world, shelf)
    if again or lost:
        await enrich_again(home.world, shelf, only=only, is_lost=lost)
    return await enrich_all(home.world, shelf, only=only, leave=leave)


async def delete_from_index(home: DataDirectory, scope: IndexScope, names: Iterable[str]) -> None:
    """Take all that was put there of some jobs or sites out of the index, if there is one."""
    if not home.settings.index and not (home.root / FOLDER).is_dir():
        return
    with closing(_open_index(home)) as index:
        for name in names:
            await index.delete(scope, name)
        await index.scrub()


@asynccontextmanager
async def open_search_index(home: DataDirectory) -> AsyncIterator[SearchIndex]:
    """Open the index of a data directory, which is made if need be, and the way to the models."""
    async with open_search_indexes(home) as shelves:
        yield shelves.of(home)


@asynccontextmanager
async def open_search_indexes(home: DataDirectory) -> AsyncIterator[SearchIndexes]:
    """Open the way to the models, and the index of each tenant when it is first asked for."""
    async with open_models(home) as models:
        with ExitStack() as opened:
            yield SearchIndexes(models, opened)


class SearchIndexes:
    """The shelves of a directory's tenants; who asks the models is the same for all."""

    def __init__(self, models: Models, opened: ExitStack) -> None:
        self._models = models
        self._stack = opened
        self._shelves: dict[str, SearchIndex] = {}

    def of(self, home: DataDirectory) -> SearchIndex:
        """Return the shelf of the tenant that a home is open for."""
        tenant = home.store.tenant
        if tenant not in self._shelves:
            index = self._stack.enter_context(closing(_open_index(home)))
            self._shelves[tenant] = SearchIndex(index, self._models.panel, self._models.embedder)
        return self._shelves[tenant]


def _open_index(home: DataDirectory) -> KeptIndex:
    place = home.settings.index
    if not place:
        return open_sqlite_index(home.root / FOLDER, tenant=home.store.tenant)
    is_bucket = place.startswith("s3:")
    return open_lance_index(
        read_bucket_url(place) if is_bucket else Path(place), tenant=home.store.tenant
    )
