"""An index in LanceDB tables: on a directory, or in a bucket that many machines share.

A tenant is one table, a chunk one row. Words are our own tokens in a column that LanceDB ranks by
BM25; each embedder has a column of vectors. A put is one merge, so that readers see a document as
it was or as it is. A row is named by all that its vectors were made of: where that is the same,
the row stays with them, else it is another row.

Whatever is not in the word index yet is searched all the same, one row after the other, until
enough of it has come together. It needs `geomi[lance]`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from geomi.adapters.index.entry import (
    UNORDERED,
    body_words,
    head_words,
    headings_text,
    kept_text,
)
from geomi.adapters.index.lance_vectors import LanceVectors, vector_columns
from geomi.errors import ConfigError
from geomi.model.chunk import Chunk
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
from geomi.text.digest import sha256_hex

# Rows outside of the word index make searches slower; bringing them in rewrites parts of it.
MAX_UNINDEXED_ROWS = 5_000

_AT_ONCE = timedelta(milliseconds=1)

_TEXTS = (
    "row", "document", "chunk", "url", "title", "collection", "site", "job", "page_type",
    "language", "kept", "headings", "text", "words", "tokenizer",
)  # fmt: skip
_SHOWN = (
    "document", "chunk", "url", "title", "headings", "text", "collection", "site", "page_type",
    "language", "date_s",
)  # fmt: skip


def open_lance_index(
    uri: str, *, tenant: str, options: Mapping[str, str] | None = None
) -> LanceIndex:
    """Open a tenant's index in a directory or at an `s3://` URL; nothing is asked of it yet.

    Args:
        options: what the object store's client needs: region, endpoint, keys.
    """
    try:
        import lancedb  # noqa: F401  # to say early that it is missing
    except ImportError as error:
        raise ConfigError(
            f"the index `{uri}` needs LanceDB", hint="pip install 'geomi[lance]'"
        ) from error
    return LanceIndex(uri, tenant, options or {})


class LanceIndex:
    """`ports.index.KeptIndex` of one tenant."""

    def __init__(self, uri: str, tenant: str, options: Mapping[str, str]) -> None:
        self._uri = uri
        self._options = dict(options)
        self._name = f"chunks-{sha256_hex(tenant)[:32]}"
        self._opening = asyncio.Lock()
        self._table: Any = None
        self.vectors = LanceVectors(self._opened, condition)

    async def put(self, documents: Sequence[Document]) -> None:
        """Keep documents in place of those before, in one merge."""
        if not documents:
            return
        table = await self._opened()
        rows = [_row(one, chunk) for one in documents for chunk in one.chunks]
        named = _among("document", [one.id for one in documents])
        merge = table.merge_insert("row").when_matched_update_all().when_not_matched_insert_all()
        await merge.when_not_matched_by_source_delete(named).execute(_as_table(rows))
        stats = await table.index_stats("words_idx")
        if stats is not None and stats.num_unindexed_rows > MAX_UNINDEXED_ROWS:
            await table.optimize()

    async def delete(self, scope: Scope, name: str) -> int:
        """Take documents out, in one commit."""
        table = await self._opened()
        where = "true" if scope is Scope.TENANT else _among(scope.value, [name])
        documents = await self._documents(where)
        await table.delete(where)
        return documents

    async def match(self, query: Query, filters: Filters, *, limit: int) -> list[Match]:
        """Find chunks by their words."""
        if not query.tokens:
            return []
        table = await self._opened()
        asked = table.query().nearest_to_text(_asked(query)).limit(limit)
        if (where := condition(filters)) is not None:
            asked = asked.where(where)
        rows = await asked.select(["document", "chunk", "_score"]).to_list()
        found = [Match(ChunkKey(row["document"], row["chunk"]), row["_score"]) for row in rows]
        return sorted(found, key=lambda match: -match.score)

    async def read(self, keys: Sequence[ChunkKey]) -> list[Passage]:
        """Return chunks in the order they are asked for."""
        if not keys:
            return []
        table = await self._opened()
        where = f"{_among('document', {key.document for key in keys})} AND "
        where += _among("chunk", {key.chunk for key in keys})
        rows = await table.query().where(where).select(list(_SHOWN)).to_list()
        found = {ChunkKey(row["document"], row["chunk"]): _passage(row) for row in rows}
        return [found[key] for key in keys if key in found]

    async def count(self) -> IndexCounts:
        """Say how much there is."""
        table = await self._opened()
        vectors = 0
        for column in await vector_columns(table):
            vectors += await table.count_rows(f"{column} IS NOT NULL")
        return IndexCounts(await self._documents("true"), await table.count_rows(), vectors)

    async def scrub(self) -> None:
        """Leave no file of an older state; whoever still reads one is interrupted."""
        table = await self._opened()
        await table.optimize(cleanup_older_than=_AT_ONCE, delete_unverified=True)

    def close(self) -> None:
        """Let the table go."""
        if self._table is not None:
            self._table.close()

    async def _documents(self, where: str) -> int:
        table = await self._opened()
        rows = await table.query().where(where).select(["document"]).to_arrow()
        return len(rows["document"].unique())

    async def _opened(self) -> Any:
        """Open the table, which is made if there is none; two tasks do so once."""
        async with self._opening:
            if self._table is None:
                import lancedb

                database = await lancedb.connect_async(self._uri, storage_options=self._options)
                self._table = await _made(database, self._name)
            else:
                await self._table.checkout_latest()
            return self._table


async def _made(database: Any, name: str) -> Any:
    from lancedb.index import FTS

    try:
        table = await database.open_table(name)
    except ValueError:  # there is none, as far as this process can see
        table = await database.create_table(name, schema=_schema(), exist_ok=True)
    if not await table.list_indices():
        # The tokens are ours and stay as they are.
        tokens = FTS(
            base_tokenizer="whitespace", with_position=True, max_token_length=None,
            lower_case=False, stem=False, remove_stop_words=False, ascii_folding=False,
        )  # fmt: skip
        await table.create_index("words", config=tokens, replace=False)
    return table


def condition(filters: Filters) -> str | None:
    """Write filters as SQL; None where nothing is asked for."""
    lists = {
        "collection": filters.collections, "site": filters.sites,
        "page_type": filters.page_types, "language": filters.languages,
    }  # fmt: skip
    parts = [_among(column, values) for column, values in lists.items() if values]
    if filters.since_s is not None:
        parts.append(f"date_s >= {float(filters.since_s)!r}")
    if filters.until_s is not None:
        parts.append(f"date_s < {float(filters.until_s)!r}")
    return " AND ".join(parts) or None


def _among(column: str, values: Iterable[str]) -> str:
    """Write a condition; LanceDB binds no parameters, so that quotation marks are doubled."""
    quoted = ", ".join("'" + value.replace("'", "''") + "'" for value in sorted(values))
    return f"{column} IN ({quoted})"


def _asked(query: Query) -> Any:
    from lancedb.query import BooleanQuery, MatchQuery, Occur, PhraseQuery

    anything = MatchQuery(" ".join(query.tokens), "words")
    if not query.phrases:
        return anything
    parts = [(Occur.SHOULD, anything)]
    for phrase in query.phrases:
        words = [(Occur.MUST, MatchQuery(word, "words")) for word in (UNORDERED, *phrase)]
        either = [PhraseQuery(" ".join(phrase), "words"), BooleanQuery(words)]
        parts.append((Occur.MUST, BooleanQuery([(Occur.SHOULD, one) for one in either])))
    return BooleanQuery(parts)


def _row(document: Document, chunk: Chunk) -> dict[str, object]:
    headings = headings_text(chunk)
    head = head_words(document.title, headings, document.kept)
    made_of = (document.id, chunk.id, document.title, headings, document.kept.value)
    return {
        "row": sha256_hex(json.dumps(made_of)), "document": document.id, "chunk": chunk.id,
        "url": document.url, "title": document.title, "collection": document.collection,
        "site": document.site, "job": document.job, "page_type": document.page_type,
        "language": document.language, "kept": document.kept.value, "headings": headings,
        "text": kept_text(chunk.text, document.kept),
        "words": f"{head} {body_words(chunk.text, document.kept)}",
        "tokenizer": chunk.tokenizer, "tokens": chunk.tokens, "position": chunk.position,
        "date_s": document.date_s,
    }  # fmt: skip


def _passage(row: dict[str, Any]) -> Passage:
    headings = tuple(json.loads(row.pop("headings")))
    key = ChunkKey(row.pop("document"), row.pop("chunk"))
    return Passage(key=key, headings=headings, **row)


def _schema() -> Any:
    import pyarrow as pa

    texts = [pa.field(name, pa.string()) for name in _TEXTS]
    numbers = [pa.field("tokens", pa.int32()), pa.field("position", pa.int32())]
    return pa.schema([*texts, *numbers, pa.field("date_s", pa.float64())])


def _as_table(rows: list[dict[str, object]]) -> Any:
    import pyarrow as pa

    return pa.Table.from_pylist(rows, schema=_schema())
