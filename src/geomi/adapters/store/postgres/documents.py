"""The documents of one tenant's collections."""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence
from functools import partial

from geomi.adapters.store.postgres.connection import PostgresDatabase
from geomi.adapters.store.postgres.session import PostgresSession, columns
from geomi.adapters.store.statements import statements
from geomi.adapters.store.tables.documents import (
    COLUMNS,
    conditions,
    document_columns,
    document_of,
    documents_listed,
    newest,
)
from geomi.model.index.document import CollectionCounts, DocumentCounts, DocumentFilter, DocumentRow

SQL = statements("store.postgres", "documents")


class PostgresDocuments:
    """`ports.knowledge.Documents` of one tenant."""

    def __init__(self, database: PostgresDatabase, tenant: str) -> None:
        self._database = database
        self._tenant = tenant

    async def put(self, rows: Sequence[DocumentRow]) -> None:
        """Keep documents in place of those before under their ids, all or none."""
        values: dict[str, object] = {"tenant": self._tenant}
        values |= columns([document_columns(row) for row in newest(rows)], COLUMNS)
        await self._database.write(lambda db: db.run(SQL["put"], values))

    async def get(self, document: str) -> DocumentRow | None:
        """Find a document."""
        values = {"tenant": self._tenant, "id": document}
        row = await self._database.read(lambda db: db.row(SQL["get"], values))
        return document_of(row) if row else None

    async def known(self, documents: Sequence[str]) -> Mapping[str, tuple[int, str]]:
        """Return the capture and the version of those documents that are here."""
        values = {"tenant": self._tenant, "ids": list(documents)}
        rows = await self._database.read(lambda db: db.rows(SQL["known"], values))
        return {document: (capture, version) for document, capture, version in rows}

    async def list(
        self, which: DocumentFilter, *, after: str, limit: int
    ) -> builtins.list[DocumentRow]:
        """List documents in the order of their ids."""
        values: dict[str, object] = {
            "tenant": self._tenant,
            "after": after,
            "many": documents_listed(limit),
        }
        values |= conditions(which)
        statement = narrowed("list", which)
        rows = await self._database.read(lambda db: db.rows(statement, values))
        return [document_of(row) for row in rows]

    async def delete(self, which: DocumentFilter) -> int:
        """Forget documents; a filter without a condition means all."""
        values = {"tenant": self._tenant} | conditions(which)
        statement = narrowed("delete", which)
        return await self._database.write(lambda db: db.run(statement, values))

    async def drop(self, documents: Sequence[str]) -> int:
        """Forget documents by their ids."""
        return await self._database.write(partial(_drop, tenant=self._tenant, ids=documents))

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


def narrowed(name: str, which: DocumentFilter) -> str:
    """Return a statement with nothing but the conditions of a filter.

    A statement for all filters would have to allow for empty ones, and could use no index.
    """
    asked = " ".join(f"AND {column} = %({column})s" for column in conditions(which))
    return SQL[name].replace("/* conditions */", asked)


def _drop(db: PostgresSession, *, tenant: str, ids: Sequence[str]) -> int:
    """Forget one after the other, in the order in which everybody locks them, all on one way."""
    answers = [db.ask(SQL["drop"], {"tenant": tenant, "id": one}) for one in sorted(set(ids))]
    return sum(len(answer.fetchall()) for answer in answers)
