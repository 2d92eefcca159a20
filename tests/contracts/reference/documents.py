"""The documents of one tenant's collections."""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence

from geomi.adapters.store.tables.documents import conditions, documents_listed, newest
from geomi.model.index.document import (
    CollectionCounts,
    DocumentCounts,
    DocumentFilter,
    DocumentRow,
    DocumentState,
)
from tests.contracts.reference.world import World


class MemoryDocuments:
    """`ports.pages.Documents` of one tenant."""

    def __init__(self, world: World, tenant: str) -> None:
        self._world = world
        self._tenant = tenant

    async def put(self, rows: Sequence[DocumentRow]) -> None:
        """Keep documents in place of those before under their ids."""
        self._world.documents |= {(self._tenant, row.id): row for row in newest(rows)}

    async def get(self, document: str) -> DocumentRow | None:
        """Find a document."""
        return self._world.documents.get((self._tenant, document))

    async def known(self, documents: Sequence[str]) -> Mapping[str, tuple[int, str]]:
        """Return the capture and the version of those documents that are here."""
        found = (self._world.documents.get((self._tenant, document)) for document in documents)
        return {row.id: (row.capture, row.version) for row in found if row}

    async def list(
        self, which: DocumentFilter, *, after: str, limit: int
    ) -> builtins.list[DocumentRow]:
        """List documents in the order of their ids."""
        found = (row for row in self._own() if row.id > after and _matches(row, which))
        return sorted(found, key=lambda row: row.id)[: documents_listed(limit)]

    async def delete(self, which: DocumentFilter) -> int:
        """Forget documents."""
        return self._world.forget_documents(self._tenant, lambda row: _matches(row, which))

    async def drop(self, documents: Sequence[str]) -> int:
        """Forget documents by their ids."""
        dropped = set(documents)
        return self._world.forget_documents(self._tenant, lambda row: row.id in dropped)

    async def collections(self) -> Sequence[CollectionCounts]:
        """Count documents by collection, in the order of their names."""
        by_name: dict[str, builtins.list[DocumentRow]] = {}
        for row in self._own():
            by_name.setdefault(row.collection, []).append(row)
        return [_counts(name, rows) for name, rows in sorted(by_name.items())]

    async def counts(self, job: str) -> DocumentCounts:
        """Count the documents that were made of a job's pages."""
        found = _counts("", [row for row in self._own() if row.job == job])
        return DocumentCounts(found.indexed, found.skipped, found.failed, found.chunks)

    def _own(self) -> builtins.list[DocumentRow]:
        rows = self._world.documents.items()
        return [row for (tenant, _), row in rows if tenant == self._tenant]


def _matches(row: DocumentRow, which: DocumentFilter) -> bool:
    return all(getattr(row, column) == value for column, value in conditions(which).items())


def _counts(collection: str, rows: Sequence[DocumentRow]) -> CollectionCounts:
    return CollectionCounts(
        collection,
        indexed=sum(row.state is DocumentState.INDEXED for row in rows),
        skipped=sum(row.state is DocumentState.SKIPPED for row in rows),
        failed=sum(row.state is DocumentState.FAILED for row in rows),
        chunks=sum(row.chunks for row in rows),
    )
