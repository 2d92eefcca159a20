"""How pages changed, which pages a crawl has, and who sweeps it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from geomi.adapters.store.tables.histories import KEPT_VERSIONS
from geomi.model.entry import Discovered, EntryKind, Settlement, Source
from geomi.model.history import (
    ChangePool,
    HistoryUpdate,
    PageCursor,
    PageHistory,
    RevisitPage,
    Version,
)
from geomi.model.verdict import State
from geomi.recrawl.rate import pooled
from tests.contracts.reference.world import Book, World


class MemoryHistories:
    """`ports.pages.Histories` of one tenant."""

    def __init__(self, world: World, tenant: str) -> None:
        self._world = world
        self._tenant = tenant

    async def of(self, url_hashes: Sequence[bytes]) -> Mapping[bytes, PageHistory]:
        """Find the histories of pages."""
        known = self._world.histories
        return {one: known[self._tenant, one] for one in url_hashes if (self._tenant, one) in known}

    async def pools(self, host: str, patterns: Sequence[str]) -> Mapping[str, ChangePool]:
        """Find what pages of a host have told together."""
        found = {one: self._world.pools.get((self._tenant, host, one)) for one in patterns}
        return {pattern: pool for pattern, pool in found.items() if pool is not None}

    async def versions(self, url_hash: bytes, *, limit: int) -> list[Version]:
        """List what a page was before, the newest first."""
        kept = self._world.versions.get((self._tenant, url_hash), {})
        return [kept[seen_s] for seen_s in sorted(kept, reverse=True)][:limit]

    async def runs(self, crawl: str) -> list[str]:
        """List the jobs of a crawl in the order they were made."""
        jobs = [book.job for book in self._world.books.values() if book.job.tenant == self._tenant]
        return [job.id for job in jobs if crawl in (job.id, job.crawl)]

    async def standings(self, job: str, *, after: PageCursor, limit: int) -> list[RevisitPage]:
        """List the pages that a job collected and met first."""
        book = self._world.find_book(job, self._tenant)
        found = sorted(self._all(book), key=lambda one: one.place) if book else []
        return [one for one in found if one.place > after][:limit]

    async def present(self, crawl: str) -> int:
        """Count the pages of a crawl that are still there."""
        books = [self._world.find_book(job, self._tenant) for job in await self.runs(crawl)]
        collected = {
            url_hash
            for book in books
            for queue in (book.queues.values() if book else ())
            for url_hash, entry in queue.entries.items()
            if entry.kind is EntryKind.PAGE and entry.state is State.COMPLETED
        }
        known = self._world.histories
        return sum(known.get((self._tenant, one), PageHistory()).is_there for one in collected)

    async def met(self, crawl: str, urls: Sequence[Discovered]) -> Mapping[bytes, float]:
        """Return which URLs have been asked for before, and when they were last collected."""
        book = self._world.find_book(crawl, self._tenant)
        found = {}
        for url in urls:
            page = self._world.pages.get((self._tenant, url.url_hash))
            queue = book.queues.get(url.host) if book else None
            if page is not None:
                found[url.url_hash] = page.fetched_at_s
            elif queue is not None and url.url_hash in queue.entries:
                found[url.url_hash] = 0.0
        return found

    def _all(self, book: Book) -> list[RevisitPage]:
        return [
            RevisitPage(
                url_hash,
                entry.url,
                entry.host,
                entry.depth,
                page.fetched_at_s,
                page.due_s,
                self._world.histories.get((self._tenant, url_hash), PageHistory()),
                (queue.number, url_hash),
            )
            for queue in book.queues.values()
            for url_hash, entry in queue.entries.items()
            if entry.kind is EntryKind.PAGE
            and entry.state is State.COMPLETED
            and entry.source is not Source.REVISIT
            and (page := self._world.pages.get((self._tenant, url_hash))) is not None
        ]


class MemorySweeps:
    """`ports.pages.Sweeps` of one tenant."""

    def __init__(self, world: World, tenant: str) -> None:
        self._world = world
        self._tenant = tenant

    async def take(self, crawl: str, *, owner: str, lease_s: float, now_s: float) -> bool:
        """Take or keep the right; False while somebody else has it."""
        holder, until_s = self._world.sweeps.get((self._tenant, crawl), (owner, now_s))
        if holder != owner and until_s > now_s:
            return False
        self._world.sweeps[self._tenant, crawl] = (owner, now_s + lease_s)
        return True

    async def end(self, crawl: str, *, owner: str) -> None:
        """Give the right back."""
        holder, _ = self._world.sweeps.get((self._tenant, crawl), ("", 0.0))
        if holder == owner:
            del self._world.sweeps[self._tenant, crawl]


def write_learned(world: World, tenant: str, visit: Settlement, learned: HistoryUpdate) -> None:
    """Write what a visit of a known page adds to its history and to its pools."""
    key = (tenant, visit.entry.url_hash)
    world.histories[key] = learned.history
    if visit.page is None:
        world.put_off(*key, learned.due_s)
    if (before := learned.before) is not None:
        kept = world.versions.setdefault(key, {})
        kept[before.seen_s] = before
        for seen_s in sorted(kept)[:-KEPT_VERSIONS]:
            del kept[seen_s]
    if learned.evidence is not None:
        for pattern in dict.fromkeys(("", learned.pattern)):
            pool = world.pools.get((tenant, visit.entry.host, pattern), ChangePool())
            world.pools[tenant, visit.entry.host, pattern] = pooled(pool, learned.evidence)
