"""What one tenant has collected: pages, the feed of captures, and how far its readers have come."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from geomi.adapters.ledger.count import NEAR_PER_BAND, bands, is_original
from geomi.adapters.memory.world import World
from geomi.model.page import CaptureRow, PageRecord


class MemoryPages:
    """`ports.store.Pages` of one tenant."""

    def __init__(self, world: World, tenant: str) -> None:
        self._world = world
        self._tenant = tenant

    async def get(self, url_hash: bytes) -> PageRecord | None:
        """Find a page by its identity."""
        return self._world.pages.get((self._tenant, url_hash))

    async def twins(self, job: str, exact_keys: Sequence[bytes]) -> Mapping[bytes, str]:
        """Return the URL already kept under each exact key that is known."""
        kept: dict[bytes, str] = {}
        for _, page in self._originals(job):
            kept.setdefault(page.fingerprint.exact_key, page.url)
        return {key: kept[key] for key in exact_keys if key and key in kept}

    async def near(self, job: str, simhash: int) -> list[tuple[str, int]]:
        """Return pages that share a slice of the simhash, the oldest first."""
        found: dict[int, tuple[str, int]] = {}
        for band in bands(simhash):
            sharing = {
                seq: (page.url, page.fingerprint.simhash)
                for seq, page in self._originals(job)
                if band in bands(page.fingerprint.simhash)
            }
            found |= {seq: sharing[seq] for seq in list(sharing)[-NEAR_PER_BAND:]}
        return [found[seq] for seq in sorted(found)]

    async def feed(self, job: str, *, after: int, limit: int) -> list[CaptureRow]:
        """Return captures of a job after a cursor, in the order of commits."""
        book = self._world.find_book(job, self._tenant)
        captures = book.captures if book else {}
        rows = [CaptureRow(seq, p.url, p.record) for seq, p in captures.items() if seq > after]
        return rows[:limit]

    async def cursor(self, job: str, name: str) -> tuple[int, int]:
        """Return (last sequence, committed length) of a derived output."""
        book = self._world.find_book(job, self._tenant)
        return book.cursors.get(name, (0, 0)) if book else (0, 0)

    async def advance(self, job: str, name: str, *, seq: int, length: int) -> None:
        """Commit how far a derived output has come."""
        self._world.book(job, self._tenant).cursors[name] = (seq, length)

    def _originals(self, job: str) -> Iterator[tuple[int, PageRecord]]:
        book = self._world.find_book(job, self._tenant)
        for seq, page in book.captures.items() if book else ():
            if is_original(page):
                yield seq, page
