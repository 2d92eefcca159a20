"""What a recrawl needs of the store: how pages changed, which pages a crawl has, who sweeps it.

Histories and pools are written by `Frontier.settle`, in the transaction that closes the visit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from geomi.model.entry import Discovered
from geomi.model.history import ChangePool, PageCursor, PageHistory, RevisitPage, Version


class Histories(Protocol):
    """How the pages of one tenant changed."""

    async def of(self, url_hashes: Sequence[bytes]) -> Mapping[bytes, PageHistory]:
        """Find the histories of pages; a page that was visited once has none."""
        ...

    async def pools(self, host: str, patterns: Sequence[str]) -> Mapping[str, ChangePool]:
        """Find what pages of a host have told together; the empty pattern is the whole host."""
        ...

    async def versions(self, url_hash: bytes, *, limit: int) -> list[Version]:
        """List what a page was before, the newest first."""
        ...

    async def runs(self, crawl: str) -> list[str]:
        """List the jobs of a crawl, which is named by its first, in the order they were made."""
        ...

    async def standings(self, job: str, *, after: PageCursor, limit: int) -> list[RevisitPage]:
        """List the pages that a job collected and met first, in an order of the store's own."""
        ...

    async def met(self, crawl: str, urls: Sequence[Discovered]) -> Mapping[bytes, float]:
        """Return which URLs have been asked for before, and when they were last collected.

        By the crawl's first job, or with success by anybody; 0 where nothing was collected.
        """
        ...


class Sweeps(Protocol):
    """The right to sweep a crawl: one sweeper at a time, by the store's clock."""

    async def take(self, crawl: str, *, owner: str, lease_s: float, now_s: float) -> bool:
        """Take or keep the right until `now_s + lease_s`; False while somebody else has it."""
        ...

    async def end(self, crawl: str, *, owner: str) -> None:
        """Give the right back; nothing happens where it was lost."""
        ...
