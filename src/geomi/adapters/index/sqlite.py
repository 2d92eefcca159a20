"""An index in an SQLite file: full text by FTS5 over our own tokens, and vectors in the same file.

A vector search is exact: it compares with every vector that the filters let through. 100,000
vectors of 384 numbers take about 20 ms of one core. The first search reads them into 150 MB of
memory; later searches read only what is new. Beyond a few hundred thousand chunks LanceDB is the
better place.

FTS5 ranks by BM25 with k1 = 1.2 and b = 0.75, and computes it for every chunk that matches: 100,000
of them take a fifth of a second. Words that most chunks have say the least. So the rarest words
choose which chunks are ranked, and all words rank them; only where very few are found that way,
all words choose. An index with fewer chunks than `RANKED_CHUNKS` is always ranked in full.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from geomi.adapters.index.chunk_words import UNORDERED, check_length
from geomi.adapters.index.sqlite_file import (
    INDEX_SQL,
    VECTORS_GONE,
    IndexFile,
    bump,
    delete_all,
    delete_some,
    index_path,
    put_documents,
)
from geomi.adapters.index.sqlite_file import INDEX_SQL as INDEX
from geomi.adapters.store.sqlite.connection import SqliteSession
from geomi.adapters.store.statements import statements
from geomi.model.index.search import (
    NO_FILTERS,
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

VECTOR_SQL = statements("index", "vectors")
# What a new vector may find free, so that not all are copied for each that comes.
SPARE = 1.25
_KIND = np.dtype("<f4")
SEARCH_SQL = statements("index", "search")

# Ranking a chunk takes one to two microseconds of CPU, so that the choice costs 20 ms at most.
RANKED_CHUNKS = 10_000
# So many that have a rare word are enough: whatever else there is has only words that all have.
ENOUGH = 20

Parameters = dict[str, str | float | None]


def open_sqlite_index(folder: Path, *, tenant: str) -> SqliteIndex:
    """Open a tenant's index; create it if it is missing."""
    return SqliteIndex(IndexFile(index_path(folder, tenant)))


class SqliteIndex:
    """`ports.index.KeptIndex` of one tenant."""

    def __init__(self, file: IndexFile) -> None:
        self._file = file
        self.vectors = SqliteVectors(file)

    async def put(self, documents: Sequence[IndexDocument]) -> None:
        """Keep documents in place of those before."""
        await self._file.write(partial(put_documents, documents=documents))

    async def adopt(self, job: str, documents: Sequence[str]) -> None:
        """Let documents belong to another job."""
        if documents:
            values = [(job, one) for one in documents]
            await self._file.write(lambda db: db.executemany(INDEX_SQL["change_job"], values))

    async def delete(self, scope: IndexScope, name: str) -> int:
        """Delete documents, some at a time, so that an interrupted call can be repeated."""
        if scope is IndexScope.TENANT:
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

    async def read(self, keys: Sequence[ChunkKey]) -> list[IndexedChunk]:
        """Return chunks in the order they are asked for."""
        return await self._file.read(partial(_passages, keys=keys))

    async def count(self) -> IndexCounts:
        """Say how much there is."""
        rows = await self._file.read(lambda db: db.execute(INDEX_SQL["counts"]).fetchone())
        return IndexCounts(*rows)

    async def scrub(self) -> None:
        """Leave nothing in the file of what was deleted."""
        await self._file.scrub()

    def close(self) -> None:
        """Finish what is under way and close the file."""
        self._file.close()


def _passages(db: SqliteSession, keys: Sequence[ChunkKey]) -> list[IndexedChunk]:
    named = json.dumps([(key.document, key.chunk) for key in keys])
    return [
        IndexedChunk(ChunkKey(document, chunk), url, title, tuple(json.loads(headings)), *rest)
        for document, chunk, url, title, headings, *rest in db.execute(
            INDEX_SQL["passages"], {"keys": named}
        )
    ]


class SqliteVectors:
    """`ports.index.VectorIndex` in a file."""

    def __init__(self, file: IndexFile) -> None:
        self._file = file
        self._kept: dict[str, _Matrix] = {}

    async def lacking(self, embedder: str, document: str) -> list[str]:
        """Return the ids of a document's chunks that have no vector of an embedder."""
        values = {"embedder": embedder, "document": document}
        rows = await self._file.read(
            lambda db: db.execute(VECTOR_SQL["lacking"], values).fetchall()
        )
        return [chunk for (chunk,) in rows]

    async def put(self, embedder: str, keys: Sequence[ChunkKey], vectors: Vectors) -> int:
        """Keep vectors of chunks that are there."""
        work = partial(_put, embedder=embedder, keys=keys, vectors=vectors)
        return await self._file.write(work)

    async def nearest(
        self, embedder: str, vector: Vectors, filters: Filters, *, limit: int
    ) -> list[Match]:
        """Compare with every vector that the filters let through."""
        return await self._file.read(lambda db: self._nearest(db, embedder, vector, filters, limit))

    def _nearest(
        self,
        db: SqliteSession,
        embedder: str,
        vector: Vectors,
        filters: Filters,
        limit: int,
    ) -> list[Match]:
        found = db.execute(VECTOR_SQL["find_embedder"], (embedder,)).fetchone()
        if found is None:
            return []
        number, dimensions = found
        check_length(embedder, dimensions, vector.shape[-1])
        matrix = self._kept.setdefault(embedder, _Matrix(number, dimensions))
        matrix.catch_up(db)
        allowed = None
        if filters != NO_FILTERS:
            rows = db.execute(SEARCH_SQL["allowed"], parameters(filters))
            allowed = np.fromiter((chunk for (chunk,) in rows), np.int64)
        chunks, scores = matrix.nearest(vector, allowed, limit)
        names = db.execute(SEARCH_SQL["names"], {"numbers": json.dumps(chunks)}).fetchall()
        return [Match(ChunkKey(*name), score) for name, score in zip(names, scores, strict=True)]


class _Matrix:
    """All vectors of one embedder, in the order they were written."""

    def __init__(self, embedder: int, dimensions: int) -> None:
        self._embedder = embedder
        self._dimensions = dimensions
        self._rows = np.empty((0, dimensions), _KIND)
        self._chunks = np.empty(0, np.int64)
        self._written = np.empty(0, np.int64)
        self._used = 0
        self._gone = 0

    def catch_up(self, db: SqliteSession) -> None:
        """Read what was written since the last time, and drop what was taken out."""
        (gone,) = db.execute(INDEX["get_fact"], (VECTORS_GONE,)).fetchone() or (0,)
        last = int(self._written[self._used - 1]) if self._used else 0
        new = db.execute(VECTOR_SQL["newer"], (self._embedder, last)).fetchall()
        if new:
            self._add(new)
        if gone != self._gone:
            rows = db.execute(VECTOR_SQL["present"], (self._embedder,))
            self._drop_all_but(np.fromiter((seq for (seq,) in rows), np.int64))
            self._gone = gone

    def nearest(
        self, vector: Vectors, allowed: NDArray[np.int64] | None, limit: int
    ) -> tuple[list[int], list[float]]:
        """Return the nearest chunks and how near they are."""
        chunks = self._chunks[: self._used]
        scores = self._rows[: self._used] @ vector.astype(_KIND).reshape(-1)
        if allowed is not None:
            is_allowed = np.isin(chunks, allowed)
            chunks, scores = chunks[is_allowed], scores[is_allowed]
        if limit < scores.size:
            best = np.argpartition(-scores, limit)[:limit]
            chunks, scores = chunks[best], scores[best]
        order = np.lexsort((chunks, -scores))
        return chunks[order].tolist(), scores[order].tolist()

    def _add(self, new: Sequence[tuple[int, int, bytes]]) -> None:
        used = self._used + len(new)
        if used > len(self._chunks):
            self._grow(round(used * SPARE))
        place = slice(self._used, used)
        joined = b"".join(data for _, _, data in new)
        self._rows[place] = np.frombuffer(joined, _KIND).reshape(len(new), self._dimensions)
        self._chunks[place] = [chunk for _, chunk, _ in new]
        self._written[place] = [seq for seq, _, _ in new]
        self._used = used

    def _grow(self, size: int) -> None:
        rows = np.empty((size, self._dimensions), _KIND)
        rows[: self._used] = self._rows[: self._used]
        self._rows = rows
        self._chunks = np.resize(self._chunks, size)
        self._written = np.resize(self._written, size)

    def _drop_all_but(self, present: NDArray[np.int64]) -> None:
        stays = np.isin(self._written[: self._used], present)
        left = int(stays.sum())
        for array in (self._rows, self._chunks, self._written):
            array[:left] = array[: self._used][stays]
        self._used = left


def _put(db: SqliteSession, *, embedder: str, keys: Sequence[ChunkKey], vectors: Vectors) -> int:
    found = db.execute(VECTOR_SQL["find_embedder"], (embedder,)).fetchone()
    if found is None:
        number = db.execute(VECTOR_SQL["add_embedder"], (embedder, vectors.shape[1])).lastrowid
    else:
        number, dimensions = found
        check_length(embedder, dimensions, vectors.shape[1])
    kept = 0
    for key, row in zip(keys, vectors.astype(_KIND), strict=True):
        values = {"embedder": number, "document": key.document, "chunk": key.chunk}
        if db.execute(VECTOR_SQL["forget_vector"], values).rowcount:
            bump(db, VECTORS_GONE)
        kept += db.execute(VECTOR_SQL["put_vector"], {**values, "data": row.tobytes()}).rowcount
    return kept


def match_words(db: SqliteSession, query: Query, filters: Filters, limit: int) -> list[Match]:
    """Return the best chunks by their words."""
    if not query.tokens:
        return []
    rare, common = ([], []) if query.phrases else _by_rarity(db, query.tokens)
    if common:
        # Each word has to stand in it equally often, or it would count for more: the rare ones
        # stand in the choice as well.
        ranked = _any([*rare, *common, *common])
        found = _ask(db, f"({_any(rare)}) AND ({ranked})", filters, limit)
        if len(found) >= min(limit, ENOUGH):
            return found
    phrases = "".join(f"{_phrase(phrase)} AND " for phrase in query.phrases)
    return _ask(db, f"{phrases}({_any(query.tokens)})", filters, limit)


def parameters(filters: Filters) -> Parameters:
    """Return filters as SQL takes them; what is not asked for is NULL."""
    return {
        "collections": _listed(filters.collections),
        "sites": _listed(filters.sites),
        "page_types": _listed(filters.page_types),
        "languages": _listed(filters.languages),
        "since_s": filters.since_s,
        "until_s": filters.until_s,
    }


def _ask(db: SqliteSession, expression: str, filters: Filters, limit: int) -> list[Match]:
    values = {**parameters(filters), "expression": expression, "limit": limit}
    return [
        Match(ChunkKey(document, chunk), score)
        for document, chunk, score in db.execute(SEARCH_SQL["match"], values)
    ]


def _by_rarity(db: SqliteSession, tokens: Sequence[str]) -> tuple[list[str], list[str]]:
    """Split the words into those that choose chunks and those that only rank."""
    counted = {
        token: db.execute(SEARCH_SQL["how_many"], (_quoted(token), RANKED_CHUNKS)).fetchone()[0]
        for token in tokens
    }
    rare: list[str] = []
    chunks = 0
    for token in sorted((token for token in tokens if counted[token]), key=counted.__getitem__):
        chunks += counted[token]
        if rare and chunks > RANKED_CHUNKS:
            break
        rare.append(token)
    return rare, [token for token in tokens if counted[token] and token not in rare]


def _phrase(tokens: Sequence[str]) -> str:
    """Return how a phrase is asked for: in order, or by all words where there is no order."""
    in_order = _quoted(" ".join(tokens))
    anywhere = " AND ".join(map(_quoted, (UNORDERED, *tokens)))
    return f"({in_order} OR ({anywhere}))"


def _any(tokens: Sequence[str]) -> str:
    return " OR ".join(map(_quoted, tokens))


def _quoted(token: str) -> str:
    """Write a string of FTS5; a token has no quotation marks, and they would do no harm."""
    return '"' + token.replace('"', '""') + '"'


def _listed(values: Sequence[str]) -> str | None:
    return json.dumps(values) if values else None
