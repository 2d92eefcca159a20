"""Vectors in LanceDB: one column for each embedder, in the rows of the chunks themselves."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import numpy as np

from geomi.errors import StoreError
from geomi.model.search import ChunkKey, Filters, Match
from geomi.ports.index import Vectors
from geomi.text.digest import sha256_hex

_PREFIX = "vector_"


class LanceVectors:
    """`ports.index.VectorIndex` of one tenant's table."""

    def __init__(
        self,
        opened: Callable[[], Awaitable[Any]],
        condition: Callable[[Filters], str | None],
    ) -> None:
        self._opened = opened
        self._condition = condition

    async def lacking(self, embedder: str, document: str) -> list[str]:
        """Return the ids of a document's chunks that have no vector of an embedder."""
        table = await self._opened()
        where = "document = '" + document.replace("'", "''") + "'"
        if (column := _column(embedder)) in await vector_columns(table):
            where += f" AND {column} IS NULL"
        rows = await table.query().where(where).select(["chunk", "position"]).to_list()
        return [row["chunk"] for row in sorted(rows, key=lambda row: row["position"])]

    async def put(self, embedder: str, keys: Sequence[ChunkKey], vectors: Vectors) -> int:
        """Keep vectors of chunks that are there, in one merge."""
        import pyarrow as pa

        table, column = await self._opened(), _column(embedder)
        size = vectors.shape[1]
        known = await vector_columns(table)
        if column in known:
            _check(embedder, known[column], size)
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
        return int(result.num_updated_rows)

    async def nearest(
        self, embedder: str, vector: Vectors, filters: Filters, *, limit: int
    ) -> list[Match]:
        """Compare with all vectors that the filters let through."""
        table, column = await self._opened(), _column(embedder)
        known = await vector_columns(table)
        if column not in known:
            return []
        _check(embedder, known[column], vector.shape[-1])
        asked = table.query().nearest_to(vector.reshape(-1)).column(column).distance_type("dot")
        if (where := self._condition(filters)) is not None:
            asked = asked.where(where)
        found = asked.limit(limit).select(["document", "chunk", "_distance"])
        return [
            Match(ChunkKey(row["document"], row["chunk"]), 1 - row["_distance"])
            for row in await found.to_list()
        ]


async def vector_columns(table: Any) -> dict[str, int]:
    """Return the columns of vectors, and how long theirs are."""
    schema = await table.schema()
    return {each.name: each.type.list_size for each in schema if each.name.startswith(_PREFIX)}


def _column(embedder: str) -> str:
    return _PREFIX + sha256_hex(embedder)[:16]


def _check(embedder: str, dimensions: int, found: int) -> None:
    if dimensions != found:
        raise StoreError(
            f"vectors of `{embedder}` have {dimensions} numbers in this index; these have {found}",
            hint="give another model another name",
        )
