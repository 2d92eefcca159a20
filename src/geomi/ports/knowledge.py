"""What is known of one tenant's pages beyond their text, and what it cost to know it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from geomi.model.index.document import CollectionCounts, DocumentCounts, DocumentFilter, DocumentRow
from geomi.model.index.language_model import CostLine


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
        """Count the documents that were made of a job's pages (JOB-02)."""
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
