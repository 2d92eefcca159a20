"""An index in LanceDB tables: in a directory, or in a bucket that many machines share.

A tenant is one table, and a chunk is one row. A put is one merge, so readers see a document as it
was or as it is. Rows that are not in the word index yet are searched one by one, until there are
enough to index.

Each embedder has a column of vectors in the rows of the chunks. The column holds vectors and
nothing else. The text beside it is what the document allows to be kept: a preview where no more is
allowed (IDX-03, IDX-04). It needs the extra `lance`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from geomi.adapters.bucket_url import BucketUrl
from geomi.adapters.index.chunk_words import UNORDERED, check_length
from geomi.adapters.index.lance_table import (
    WORDS,
    TenantTable,
    among,
    condition,
    index_words,
    keep_indexed,
    put_rows,
)
from geomi.errors import ExtraMissing
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
from geomi.text.identifiers import sha256_hex

_ALL = "true"
_AT_ONCE = timedelta(milliseconds=1)
_SHOWN = (
    "document", "chunk", "url", "title", "headings", "text", "collection", "site", "page_type",
    "language", "date_s",
)  # fmt: skip
_PREFIX = "vector_"


def open_lance_index(place: Path | BucketUrl, *, tenant: str) -> LanceIndex:
    """Open a tenant's index in a directory or a bucket; nothing is asked of it yet."""
    if find_spec("lancedb") is None:
        raise ExtraMissing(f"the index `{place}` needs LanceDB", extra="lance")
    return LanceIndex(TenantTable(place, tenant))


class LanceIndex:
    """`ports.index.KeptIndex` of one tenant."""

    def __init__(self, table: TenantTable) -> None:
        self._table = table
        self.vectors = LanceVectors(table)

    async def put(self, documents: Sequence[IndexDocument]) -> None:
        """Keep documents in place of those before."""
        if documents:
            await self._table.write(partial(put_rows, documents=documents))

    async def adopt(self, job: str, documents: Sequence[str]) -> None:
        """Let documents belong to another job, in one commit."""
        if documents:
            where = among("document", documents)
            await self._table.write(lambda table: table.update({"job": job}, where=where))

    async def delete(self, scope: IndexScope, name: str) -> int:
        """Take documents out, in one commit."""
        where = _ALL if scope is IndexScope.TENANT else among(scope.value, [name])
        return await self._table.write(partial(_delete, where=where))

    async def match(self, query: Query, filters: Filters, *, limit: int) -> list[Match]:
        """Find chunks by their words."""
        if not query.tokens:
            return []
        async with self._table.opened() as table:
            asked = table.query().nearest_to_text(_asked(query)).limit(limit)
            if (where := condition(filters)) is not None:
                asked = asked.where(where)
            rows = await asked.select(["document", "chunk", "_score"]).to_list()
        found = [Match(ChunkKey(row["document"], row["chunk"]), row["_score"]) for row in rows]
        return sorted(found, key=lambda match: -match.score)

    async def read(self, keys: Sequence[ChunkKey]) -> list[IndexedChunk]:
        """Return chunks in the order they are asked for."""
        if not keys:
            return []
        documents = among("document", {key.document for key in keys})
        where = f"{documents} AND {among('chunk', {key.chunk for key in keys})}"
        async with self._table.opened() as table:
            rows = await table.query().where(where).select(list(_SHOWN)).to_list()
        found = {ChunkKey(row["document"], row["chunk"]): _passage(row) for row in rows}
        return [found[key] for key in keys if key in found]

    async def count(self) -> IndexCounts:
        """Say how much there is."""
        async with self._table.opened() as table:
            vectors = 0
            for column in await vector_columns(table):
                vectors += await table.count_rows(f"{column} IS NOT NULL")
            return IndexCounts(await _documents(table, _ALL), await table.count_rows(), vectors)

    async def scrub(self) -> None:
        """Remove all files of older states; a reader of one is interrupted."""
        await self._table.write(_scrub)

    def close(self) -> None:
        """Close the table."""
        self._table.close()


async def _delete(table: Any, *, where: str) -> int:
    documents = await _documents(table, where)
    await table.delete(where)
    return documents


async def _scrub(table: Any) -> None:
    """Write all rows once more, and their index, and remove every file from before.

    LanceDB only marks what is deleted, and writes a file anew when a tenth of it is.
    """
    await table.update(updates_sql={"position": "position"})
    await index_words(table, replace=True)
    await table.optimize(cleanup_older_than=_AT_ONCE, delete_unverified=True)


async def _documents(table: Any, where: str) -> int:
    rows = await table.query().where(where).select(["document"]).to_arrow()
    return len(rows["document"].unique())


def _asked(query: Query) -> Any:
    from lancedb.query import BooleanQuery, MatchQuery, Occur, PhraseQuery

    anything = MatchQuery(" ".join(query.tokens), WORDS)
    if not query.phrases:
        return anything
    parts = [(Occur.SHOULD, anything)]
    for phrase in query.phrases:
        words = [(Occur.MUST, MatchQuery(word, WORDS)) for word in (UNORDERED, *phrase)]
        either = [PhraseQuery(" ".join(phrase), WORDS), BooleanQuery(words)]
        parts.append((Occur.MUST, BooleanQuery([(Occur.SHOULD, one) for one in either])))
    return BooleanQuery(parts)


def _passage(row: dict[str, Any]) -> IndexedChunk:
    headings = tuple(json.loads(row.pop("headings")))
    key = ChunkKey(row.pop("document"), row.pop("chunk"))
    return IndexedChunk(key=key, headings=headings, **row)


class LanceVectors:
    """`ports.index.VectorIndex` of one tenant's table."""

    def __init__(self, table: TenantTable) -> None:
        self._table = table

    async def lacking(self, embedder: str, document: str) -> list[str]:
        """Return the ids of a document's chunks that have no vector of an embedder."""
        where, column = among("document", [document]), _column(embedder)
        async with self._table.opened() as table:
            if column in await vector_columns(table):
                where += f" AND {column} IS NULL"
            rows = await table.query().where(where).select(["chunk", "position"]).to_list()
        return [row["chunk"] for row in sorted(rows, key=lambda row: row["position"])]

    async def put(self, embedder: str, keys: Sequence[ChunkKey], vectors: Vectors) -> int:
        """Keep vectors of chunks that are there, in one merge."""
        work = partial(_put, embedder=embedder, keys=keys, vectors=vectors)
        return await self._table.write(work)

    async def nearest(
        self, embedder: str, vector: Vectors, filters: Filters, *, limit: int
    ) -> list[Match]:
        """Compare with all vectors that the filters let through."""
        column = _column(embedder)
        async with self._table.opened() as table:
            known = await vector_columns(table)
            if column not in known:
                return []
            check_length(embedder, known[column], vector.shape[-1])
            asked = table.query().nearest_to(vector.reshape(-1)).column(column)
            asked = asked.distance_type("dot").limit(limit)
            if (where := condition(filters)) is not None:
                asked = asked.where(where)
            rows = await asked.select(["document", "chunk", "_distance"]).to_list()
        return [
            Match(ChunkKey(row["document"], row["chunk"]), 1 - row["_distance"]) for row in rows
        ]


async def vector_columns(table: Any) -> dict[str, int]:
    """Return the columns of vectors, and how long theirs are."""
    schema = await table.schema()
    return {each.name: each.type.list_size for each in schema if each.name.startswith(_PREFIX)}


async def _put(table: Any, *, embedder: str, keys: Sequence[ChunkKey], vectors: Vectors) -> int:
    import pyarrow as pa

    column, size = _column(embedder), vectors.shape[1]
    known = await vector_columns(table)
    if column in known:
        check_length(embedder, known[column], size)
    else:
        await table.add_columns(pa.field(column, pa.list_(pa.float32(), size)))
    flat = pa.array(vectors.astype(np.float32).reshape(-1))
    given = {
        "document": [key.document for key in keys],
        "chunk": [key.chunk for key in keys],
        column: pa.FixedSizeListArray.from_arrays(flat, size),
    }
    merge = table.merge_insert(["document", "chunk"]).when_matched_update_all()
    result = await merge.execute(pa.table(given))
    await keep_indexed(table)
    return int(result.num_updated_rows)


def _column(embedder: str) -> str:
    return _PREFIX + sha256_hex(embedder)[:16]
