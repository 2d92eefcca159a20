"""What one tenant has collected: pages, the feed of captures, and how far its readers have come."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from geomi.adapters.store.keys import band_keys
from geomi.dedup.sketch import PAGES_PER_BAND
from geomi.model.page import CaptureRow, KnownPage, PageRecord
from tests.contracts.reference.world import World


class MemoryPages:
    """`ports.store.Pages` of one tenant."""

    def __init__(self, world: World, tenant: str) -> None:
        self._world = world
        self._tenant = tenant

    async def get(self, url_hash: bytes) -> PageRecord | None:
        """Find a page by its identity."""
        return self._world.pages.get((self._tenant, url_hash))

    async def visited(self, url_hashes: Sequence[bytes]) -> Mapping[bytes, tuple[float, float]]:
        """Return when each page that is here was fetched last, and when it is due."""
        pages = (self._world.pages.get((self._tenant, url_hash)) for url_hash in url_hashes)
        return {page.url_hash: (page.fetched_at_s, page.due_s) for page in pages if page}

    async def twins(self, job: str, exact_keys: Sequence[bytes]) -> Mapping[bytes, KnownPage]:
        """Return the first page of a job that was kept under each exact key, without its sketch."""
        book = self._world.find_book(job, self._tenant)
        kept: dict[bytes, PageRecord] = {}
        for page in book.captures.values() if book else ():
            kept.setdefault(page.fingerprint.exact_key, page)
        return {key: self._first(kept[key]) for key in exact_keys if key and key in kept}

    async def near(self, sketch: bytes) -> list[KnownPage]:
        """Return pages of any job that share a band, the oldest first."""
        wanted = band_keys(self._tenant, sketch)
        sharing: dict[int, list[int]] = {band: [] for band in wanted}
        own = [page for (tenant, _), page in self._world.pages.items() if tenant == self._tenant]
        for number, page in enumerate(own):
            for band in wanted & band_keys(
                self._tenant, page.fingerprint.sketch, page.duplicate_of
            ):
                sharing[band].append(number)
        found = {number for numbers in sharing.values() for number in numbers[-PAGES_PER_BAND:]}
        return [_known(own[number]) for number in sorted(found)]

    async def feed(self, job: str, *, after: int, limit: int) -> list[CaptureRow]:
        """Return captures of a job after a cursor, in the order of commits."""
        book = self._world.find_book(job, self._tenant)
        captures = book.captures if book else {}
        rows = [
            CaptureRow(seq, page.url, page.record, page.response)
            for seq, page in captures.items()
            if seq > after
        ]
        return rows[:limit]

    async def cursor(self, job: str, name: str) -> tuple[int, int]:
        """Return (last sequence, committed length) of a derived output."""
        book = self._world.find_book(job, self._tenant)
        return book.cursors.get(name, (0, 0)) if book else (0, 0)

    async def advance(self, job: str, name: str, *, after: int, seq: int, length: int) -> bool:
        """Commit how far a derived output has come; False where it was rewound meanwhile."""
        cursors = self._world.book(job, self._tenant).cursors
        is_ours = name not in cursors or cursors[name][0] == after
        if is_ours:
            cursors[name] = (seq, length)
        return is_ours

    def _first(self, capture: PageRecord) -> KnownPage:
        """Return a page of a job with what it repeats by now."""
        page = self._world.pages.get((self._tenant, capture.url_hash))
        key = capture.fingerprint.exact_key
        duplicate_of = page.duplicate_of if page else ""
        return KnownPage(capture.url, b"", duplicate_of, capture.url_hash, key)


def _known(page: PageRecord) -> KnownPage:
    mark = page.fingerprint
    return KnownPage(page.url, mark.sketch, page.duplicate_of, page.url_hash, mark.exact_key)
