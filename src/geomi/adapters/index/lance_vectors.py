"""Vectors in LanceDB: one column for each embedder, in the rows of the chunks themselves.

A column holds vectors and nothing else; what stands beside it in a row is the chunk as its document
lets it be kept, a preview where no more may be (IDX-03, IDX-04).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from geomi.adapters.index.entry import check_length
from geomi.adapters.index.lance_table import TenantTable, among, condition, keep_indexed
from geomi.model.search import ChunkKey, Filters, Match
from geomi.ports.models import Vectors
from geomi.text.digest import sha256_hex

_PREFIX = "vector_"


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
