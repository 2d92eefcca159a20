"""Answer one tenant's query: by words, and by vectors where an embedder knows its language.

Two rankings become one (`search/fuse.py`). Chunks with the same text are one answer, whatever
their pages. Each answer shows its link and a short quotation. If a model cannot be asked, words
alone decide, and the answer says so.
"""

from __future__ import annotations

from collections.abc import Sequence

from geomi.errors import ModelError
from geomi.model.index.search import (
    NO_FILTERS,
    ChunkKey,
    Filters,
    Hit,
    IndexedChunk,
    Match,
    Query,
    SearchResults,
)
from geomi.ports.index import Index
from geomi.ports.models import Embedder
from geomi.search.fuse import fuse, places
from geomi.search.snippet import snippet
from geomi.search.tokens import parse_query
from geomi.text.language import OTHER_LETTERS, language_of

MAX_HITS = 100
# How deep each ranking is read: a chunk that both have in the middle may beat either's first.
DEPTH = 50

WORDS, VECTORS = "words", "vectors"
# On questions about code words alone reach an nDCG@10 of 0.697 and vectors of MiniLM 0.580; fused
# 0.688 with equal voices (k = 60), 0.710 like this (docs/adr/0017-chunks-and-index.md).
WEIGHTS = {WORDS: 1.0, VECTORS: 1 / 3}


async def search(
    index: Index,
    text: str,
    *,
    filters: Filters = NO_FILTERS,
    limit: int = 10,
    embedder: Embedder | None = None,
) -> SearchResults:
    """Return the best answers to a query."""
    query, limit = parse_query(text), min(limit, MAX_HITS)
    depth = max(DEPTH, 2 * limit)
    rankings = {WORDS: _keys(await index.match(query, filters, limit=depth))}
    problem = ""
    if embedder is not None and understands(embedder, query.text):
        try:
            (vector,) = await embedder.embed([query.text], is_query=True)
        except ModelError as error:
            problem = error.message
        else:
            near = await index.vectors.nearest(embedder.name, vector, filters, limit=depth)
            rankings[VECTORS] = _keys(near)
    scores = fuse(rankings, WEIGHTS)
    passages = await index.read(_different(list(scores))[:limit])
    return SearchResults(tuple(_hit(one, query, scores, rankings) for one in passages), problem)


def understands(embedder: Embedder, text: str) -> bool:
    """Return whether a text is in a language of an embedder.

    A few words rarely show their language, their letters do: a text in plain Latin letters is taken
    for the embedder's language if that is written in them, any other has to be recognised.
    """
    language, _ = language_of(text, "")
    if language:
        return language in embedder.languages
    return bool(text) and text.isascii() and not embedder.languages <= OTHER_LETTERS


def _keys(matches: Sequence[Match]) -> list[ChunkKey]:
    return [match.key for match in matches]


def _different(keys: Sequence[ChunkKey]) -> list[ChunkKey]:
    """Drop chunks whose text is that of a better one: an id begins with the text's digest."""
    first: dict[str, ChunkKey] = {}
    for key in keys:
        first.setdefault(key.chunk.partition("-")[0], key)
    return list(first.values())


def _hit(
    passage: IndexedChunk,
    query: Query,
    scores: dict[ChunkKey, float],
    rankings: dict[str, list[ChunkKey]],
) -> Hit:
    quoted = snippet(passage.text, query.wanted)
    return Hit(passage, quoted, scores[passage.key], places(rankings, passage.key))
