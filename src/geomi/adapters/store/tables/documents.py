"""The documents of one tenant's collections."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Mapping, Sequence

from geomi.adapters.store.mapping import RowMapper
from geomi.adapters.store.rows import refuse_long
from geomi.adapters.store.session import OwnedTable
from geomi.adapters.store.statements import table_statements
from geomi.model.index.document import (
    MAX_LISTED,
    CollectionCounts,
    DocumentCounts,
    DocumentFilter,
    DocumentRow,
)

ROWS = RowMapper(DocumentRow, "documents")
SQL = table_statements("documents", ROWS)


class DocumentTable(OwnedTable):
    """`ports.pages.Documents` of one tenant."""

    async def put(self, rows: Sequence[DocumentRow]) -> None:
        """Keep documents in place of those before under their ids, all or none."""
        many = [ROWS.values(row) | {"tenant": self._tenant} for row in newest(rows)]
        await self._database.write(lambda db: db.send_all(SQL["put"], many))

    async def get(self, document: str) -> DocumentRow | None:
        """Find a document."""
        values = {"tenant": self._tenant, "id": document}
        row = await self._database.read(lambda db: db.row(SQL["get"], values))
        return ROWS.read(row) if row else None

    async def known(self, documents: Sequence[str]) -> Mapping[str, tuple[int, str]]:
        """Return the capture and the version of those documents that are here."""
        asked = self._keys(documents)
        rows = await self._database.read(lambda db: db.rows_of_each(SQL["known"], asked))
        return {document: (capture, version) for document, capture, version in rows}

    async def list(
        self, which: DocumentFilter, *, after: str, limit: int
    ) -> builtins.list[DocumentRow]:
        """List documents in the order of their ids."""
        asked = conditions(which)
        place = {"tenant": self._tenant, "after": after, "many": documents_listed(limit)}
        statement = SQL["list"].narrowed(asked)
        rows = await self._database.read(lambda db: db.rows(statement, {**place, **asked}))
        return [ROWS.read(row) for row in rows]

    async def delete(self, which: DocumentFilter) -> int:
        """Forget documents; a filter without a condition means all."""
        asked = conditions(which)
        values = {"tenant": self._tenant} | asked
        return await self._database.write(lambda db: db.run(SQL["delete"].narrowed(asked), values))

    async def drop(self, documents: Sequence[str]) -> int:
        """Forget documents by their ids."""
        keys = self._keys(documents)
        return await self._database.write(lambda db: db.run_each(SQL["drop"], keys))

    async def collections(self) -> Sequence[CollectionCounts]:
        """Count documents by collection, in the order of their names."""
        values = {"tenant": self._tenant}
        rows = await self._database.read(lambda db: db.rows(SQL["collections"], values))
        return [CollectionCounts(*row) for row in rows]

    async def counts(self, job: str) -> DocumentCounts:
        """Count the documents that were made of a job's pages."""
        values = {"tenant": self._tenant, "job": job}
        (row,) = await self._database.read(lambda db: db.rows(SQL["counts"], values))
        return DocumentCounts(*row)

    def _keys(self, documents: Iterable[str]) -> builtins.list[dict[str, str]]:
        """Return the keys of documents, in the order in which everybody locks them."""
        return [{"tenant": self._tenant, "id": document} for document in sorted(set(documents))]


def newest(rows: Iterable[DocumentRow]) -> list[DocumentRow]:
    """Return what is to be kept of some documents: of each the last, in the order of their ids.

    In that order everybody locks them. A name that is too long for a key is refused.
    """
    last = {row.id: row for row in rows}
    for row in last.values():
        for what in ("id", "collection", "site", "job"):
            refuse_long(what, getattr(row, what))
    return [last[document] for document in sorted(last)]


def conditions(which: DocumentFilter) -> dict[str, str]:
    """Return the columns that a filter looks at, and what they have to be."""
    state = which.state.value if which.state else ""
    asked = {"collection": which.collection, "site": which.site, "job": which.job, "state": state}
    return {column: value for column, value in asked.items() if value}


def documents_listed(limit: int) -> int:
    """Return how many documents are listed at once; to some stores less than none is all."""
    return min(max(limit, 0), MAX_LISTED)
