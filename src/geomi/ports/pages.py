"""The parts of the store about pages: histories, sweeps, shares, documents, and costs of models.

`Frontier.settle` writes histories and pools, in the transaction that closes the visit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from geomi.model.entry import Discovered
from geomi.model.history import ChangePool, PageCursor, PageHistory, RevisitPage, Version
from geomi.model.index.document import CollectionCounts, DocumentCounts, DocumentFilter, DocumentRow
from geomi.model.index.language_model import CostLine
from geomi.model.page import CaptureShare


class Histories(Protocol):
    """How the pages of one tenant changed."""

    async def of(self, url_hashes: Sequence[bytes]) -> Mapping[bytes, PageHistory]:
        """Find the histories of pages; a page that was visited once has none."""
        ...

    async def pools(self, host: str, patterns: Sequence[str]) -> Mapping[str, ChangePool]:
        """Find the change pools of a host; the empty pattern is the whole host."""
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

    async def present(self, crawl: str) -> int:
        """Count the pages that the jobs of a crawl collected and that are still there."""
        ...

    async def met(self, crawl: str, urls: Sequence[Discovered]) -> Mapping[bytes, float]:
        """Return which URLs have been asked for before, and when they were last collected.

        By the crawl's first job, or with success by anybody; 0 where nothing was collected.
        """
        ...


class Sweeps(Protocol):
    """The right to sweep a crawl: one sweeper at a time, by the store's clock."""

    async def take(self, crawl: str, *, owner: str, lease_s: float, now_s: float) -> bool:
        """Take or keep the right until `now_s + lease_s`; False while another process has it."""
        ...

    async def end(self, crawl: str, *, owner: str) -> None:
        """Give the right back; nothing happens where it was lost."""
        ...


class Shares(Protocol):
    """Captures of a job that are lent in shares, so that several processes work on them at once.

    Each capture is lent once, in the order of commits. A process that ends or goes silent leaves
    its share to others. A page is in one share at a time: its later capture waits for the earlier.
    """

    async def claim(
        self,
        job: str,
        work: str,
        *,
        owner: str,
        until_s: float,
        now_s: float,
        many: int,
        behind: str = "",
    ) -> CaptureShare | None:
        """Lend up to `many` captures; None where nothing waits, or all that waits is lent.

        Args:
            behind: another work on the same captures, which has to be done with them first.
        """
        ...

    async def renew(self, share: CaptureShare, *, until_s: float) -> bool:
        """Prolong a share; False where it was lost."""
        ...

    async def settle(self, share: CaptureShare, done: int) -> bool:
        """End a share that is done up to a capture; others may have the rest. False: lost."""
        ...

    async def is_behind(self, job: str, work: str) -> bool:
        """Return whether captures of a job wait for a work, or are lent for it."""
        ...

    async def rewind(self, job: str, work: str) -> None:
        """Begin a work again with the first capture; what is lent for it is lost."""
        ...


class Documents(Protocol):
    """The documents of one tenant's collections."""

    async def put(self, rows: Sequence[DocumentRow]) -> None:
        """Keep documents in place of those before under their ids, all or none."""
        ...

    async def get(self, document: str) -> DocumentRow | None:
        """Find a document."""
        ...

    async def known(self, documents: Sequence[str]) -> Mapping[str, tuple[int, str]]:
        """Return the capture and the version of those documents that are here."""
        ...

    async def list(self, which: DocumentFilter, *, after: str, limit: int) -> list[DocumentRow]:
        """List documents in the order of their ids, for paging.

        There are never more than `MAX_LISTED` at once: what ends a walk is an empty list.
        """
        ...

    async def delete(self, which: DocumentFilter) -> int:
        """Forget documents; a filter without a condition means all. Return how many."""
        ...

    async def drop(self, documents: Sequence[str]) -> int:
        """Forget documents by their ids. Return how many there were."""
        ...

    async def collections(self) -> Sequence[CollectionCounts]:
        """Count documents by collection, in the order of their names."""
        ...

    async def counts(self, job: str) -> DocumentCounts:
        """Count the documents of a job's pages (JOB-02)."""
        ...


class Costs(Protocol):
    """The ledger of what models were paid for one tenant."""

    async def add(self, lines: Sequence[CostLine]) -> None:
        """Add calls, tokens and money to what is written down for the same key."""
        ...

    async def list(self, job: str = "") -> list[CostLine]:
        """List the lines of a job, or of all jobs, in the order of day, job, purpose and model."""
        ...

    async def spent(self, job: str) -> int:
        """Return what a job has cost so far, in millionths of a dollar."""
        ...
