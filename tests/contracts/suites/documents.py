"""Documents to try an index with, and the shortest ways to ask it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from geomi.chunk.split import split
from geomi.model.index.search import NO_FILTERS, ChunkKey, Filters, IndexDocument, Match
from geomi.ports.index import KeptIndex
from geomi.ports.models import Vectors
from geomi.search.tokens import parse_query

Indexes = Callable[[str], KeptIndex]

FILLER = "Plain words that stand here so that a chunk has some length and nothing else to say. "


def document(name: str, text: str, **changed: object) -> IndexDocument:
    """Return a document whose chunks are made of a text."""
    made = IndexDocument(
        id=name,
        url=f"https://a.test/{name}",
        title=f"Title of {name}",
        collection="main",
        site="a.test",
        job="job-1",
        chunks=split(text).chunks,
        page_type="article",
        language="en",
        date_s=100.0,
    )
    return replace(made, **changed)  # type: ignore[arg-type]  # a test names fields of its own


async def found(
    index: KeptIndex, query: str, filters: Filters = NO_FILTERS, *, limit: int = 10
) -> list[str]:
    """Return the documents that match, best first."""
    return _documents(await index.match(parse_query(query), filters, limit=limit))


async def nearest(
    index: KeptIndex, vector: Vectors, filters: Filters = NO_FILTERS, *, limit: int = 10
) -> list[str]:
    """Return the documents whose vectors are nearest to one."""
    return _documents(await index.vectors.nearest("model", vector, filters, limit=limit))


def towards(*numbers: float) -> Vectors:
    """Return a vector of length 1."""
    vector = np.array(numbers, np.float32)
    return vector / np.linalg.norm(vector)


async def embed(index: KeptIndex, one: IndexDocument, vector: Vectors) -> int:
    """Give every chunk of a document the same vector."""
    keys = [ChunkKey(one.id, chunk.id) for chunk in one.chunks]
    return await index.vectors.put("model", keys, np.stack([vector] * len(keys)))


def _documents(matches: Sequence[Match]) -> list[str]:
    assert [match.score for match in matches] == sorted(
        (match.score for match in matches), reverse=True
    )
    return [match.key.document for match in matches]
