"""An index in an SQLite file: full text by FTS5 over our own tokens, vectors beside it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from geomi.adapters.index.files import IndexFile, index_path
from geomi.adapters.index.matching import match_words
from geomi.adapters.index.vectors import SqliteVectors
from geomi.adapters.index.writing import SQL, delete_all, delete_some, put_documents
from geomi.model.search import (
    ChunkKey,
    Document,
    Filters,
    IndexCounts,
    Match,
    Passage,
    Query,
    Scope,
)


def open_sqlite_index(folder: Path, *, tenant: str) -> SqliteIndex:
    """Open a tenant's index, which is made if there is none yet."""
    return SqliteIndex(IndexFile(index_path(folder, tenant)))


class SqliteIndex:
    """`ports.index.KeptIndex` of one tenant."""

    def __init__(self, file: IndexFile) -> None:
        self._file = file
        self.vectors = SqliteVectors(file)

    async def put(self, documents: Sequence[Document]) -> None:
        """Keep documents in place of those before."""
        await self._file.write(partial(put_documents, documents=documents))

    async def adopt(self, job: str, documents: Sequence[str]) -> None:
        """Let documents belong to another job."""
        if documents:
            values = [(job, one) for one in documents]
            await self._file.write(lambda db: db.executemany(SQL["change_job"], values))

    async def delete(self, scope: Scope, name: str) -> int:
        """Take documents out, some at a time: whoever is interrupted goes on where it was."""
        if scope is Scope.TENANT:
            return await self._file.write(delete_all)
        deleted = 0
        while some := await self._file.write(partial(delete_some, scope=scope, name=name)):
            deleted += some
        return deleted

    async def match(self, query: Query, filters: Filters, *, limit: int) -> list[Match]:
        """Find chunks by their words."""
        return await self._file.read(
            partial(match_words, query=query, filters=filters, limit=limit)
        )

    async def read(self, keys: Sequence[ChunkKey]) -> list[Passage]:
        """Return chunks in the order they are asked for."""
        return await self._file.read(partial(_passages, keys=keys))

    async def count(self) -> IndexCounts:
        """Say how much there is."""
        rows = await self._file.read(lambda db: db.execute(SQL["counts"]).fetchone())
        return IndexCounts(*rows)

    async def scrub(self) -> None:
        """Leave nothing in the file of what was deleted."""
        await self._file.scrub()

    def close(self) -> None:
        """Finish what is under way and close the file."""
        self._file.close()


def _passages(db: sqlite3.Connection, keys: Sequence[ChunkKey]) -> list[Passage]:
    named = json.dumps([(key.document, key.chunk) for key in keys])
    return [
        Passage(ChunkKey(document, chunk), url, title, tuple(json.loads(headings)), *rest)
        for document, chunk, url, title, headings, *rest in db.execute(
            SQL["passages"], {"keys": named}
        )
    ]
