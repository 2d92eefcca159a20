"""The index: it finds chunks by their words, and by vectors if there are any.

A handle is bound to one tenant when it is opened, and sees nothing of another. Search finds a text
as soon as it is stored. Its vectors may come later (C-80); nothing waits for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from geomi.model.index.search import (
    ChunkKey,
    Filters,
    IndexCounts,
    IndexDocument,
    IndexedChunk,
    IndexScope,
    Match,
    Query,
)
from geomi.ports.models import Vectors


class Index(Protocol):
    """One tenant's chunks."""

    @property
    def vectors(self) -> VectorIndex:
        """Return the part that vectors are kept in."""
        ...

    async def put(self, documents: Sequence[IndexDocument]) -> None:
        """Keep documents in place of those before under their ids, all or none.

        Chunks that are the same as before, under the same title and headings, keep their vectors. A
        document without chunks is taken out.
        """
        ...

    async def adopt(self, job: str, documents: Sequence[str]) -> None:
        """Let documents that stay as they are belong to another job."""
        ...

    async def delete(self, scope: IndexScope, name: str) -> int:
        """Take out all that belongs to a document, site, job, collection or the tenant.

        Return how many documents there were. Of the tenant no name is asked for.
        """
        ...

    async def match(self, query: Query, filters: Filters, *, limit: int) -> list[Match]:
        """Find chunks by their words (BM25), best first."""
        ...

    async def read(self, keys: Sequence[ChunkKey]) -> list[IndexedChunk]:
        """Return chunks in the requested order; deleted ones are missing."""
        ...

    async def count(self) -> IndexCounts:
        """Say how much there is."""
        ...

    async def scrub(self) -> None:
        """Leave nothing on the disk of what was deleted."""
        ...


class VectorIndex(Protocol):
    """Vectors of one tenant's chunks, each by the name of the embedder that made it."""

    async def lacking(self, embedder: str, document: str) -> list[str]:
        """Return the ids of a document's chunks that have no vector of an embedder."""
        ...

    async def put(self, embedder: str, keys: Sequence[ChunkKey], vectors: Vectors) -> int:
        """Keep vectors of chunks; those of chunks that are gone are dropped.

        Return how many were kept.
        """
        ...

    async def nearest(
        self, embedder: str, vector: Vectors, filters: Filters, *, limit: int
    ) -> list[Match]:
        """Find the chunks whose vectors are nearest to one, best first."""
        ...


class KeptIndex(Index, Protocol):
    """An index with the methods for the code that opened it."""

    def close(self) -> None:
        """Finish the write under way and close what is open."""
        ...
