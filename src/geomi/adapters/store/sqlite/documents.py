"""The documents of one tenant's collections."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from geomi.adapters.store.rows import Row
from geomi.adapters.store.sqlite.connection import SqliteDatabase, SqliteSession
from geomi.adapters.store.statements import statements
from geomi.adapters.store.tables.documents import (
    conditions,
    document_columns,
    document_of,
    documents_listed,
    newest,
)
from geomi.model.index.document import CollectionCounts, DocumentCounts, DocumentFilter, DocumentRow

SQL = statements("store.sqlite", "documents")


class SqliteDocuments:
    """`ports.knowledge.Documents` of one tenant."""

    def __init__(self, database: SqliteDatabase, tenant: str) -> None:
        self._database = database
        self._tenant = tenant

    async def put(self, rows: Sequence[DocumentRow]) -> None:
        """Keep documents in place of those before under their ids, all or none."""
        columns = [(self._tenant, *document_columns(row)) for row in newest(rows)]
        await self._database.write(partial(_many, name="put", rows=columns))

    async def get(self, document: str) -> DocumentRow | None:
        """Find a document."""
        with self._database.reading() as db:
            row = db.execute(SQL["get"], (self._tenant, document)).fetchone()
        return document_of(row) if row else None

    async def known(self, documents: Sequence[str]) -> Mapping[str, tuple[int, str]]:
        """Return the capture and the version of those documents that are here."""
        with self._database.reading() as db:
            rows = {
                document: db.execute(SQL["known"], (self._tenant, document)).fetchone()
                for document in documents
            }
        return {document: (row[0], row[1]) for document, row in rows.items() if row}

    async def list(
        self, which: DocumentFilter, *, after: str, limit: int
    ) -> builtins.list[DocumentRow]:
        """List documents in the order of their ids."""
        values = {"tenant": self._tenant, "after": after, "many": documents_listed(limit)}
        with self._database.reading() as db:
            rows = db.execute(narrowed("list", which), values | conditions(which))
            return [document_of(row) for row in rows]

    async def delete(self, which: DocumentFilter) -> int:
        """Forget documents; a filter without a condition means all."""
        values = {"tenant": self._tenant} | conditions(which)
        statement = narrowed("delete", which)
        return await self._database.write(lambda db: db.execute(statement, values).rowcount)

    async def drop(self, documents: Sequence[str]) -> int:
        """Forget documents by their ids."""
        rows = [(self._tenant, document) for document in documents]
        return await self._database.write(partial(_many, name="drop", rows=rows))

    async def collections(self) -> Sequence[CollectionCounts]:
        """Count documents by collection, in the order of their names."""
        with self._database.reading() as db:
            rows = db.execute(SQL["collections"], (self._tenant,))
            return [CollectionCounts(*row) for row in rows]

    async def counts(self, job: str) -> DocumentCounts:
        """Count the documents that were made of a job's pages."""
        with self._database.reading() as db:
            return DocumentCounts(*db.execute(SQL["counts"], (self._tenant, job)).fetchone())


def narrowed(name: str, which: DocumentFilter) -> str:
    """Return a statement with nothing but the conditions of a filter.

    A statement for all filters would have to allow for empty ones, and could use no index.
    """
    asked = " ".join(f"AND {column} = :{column}" for column in conditions(which))
    return SQL[name].replace("/* conditions */", asked)


def _many(db: SqliteSession, *, name: str, rows: Iterable[Row]) -> int:
    return db.executemany(SQL[name], rows).rowcount
