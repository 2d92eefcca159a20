"""Finding chunks by their words: the expression that SQLite's FTS5 is asked with, and its filters.

FTS5 ranks by BM25 with k1 = 1.2 and b = 0.75, and computes it for every chunk that matches: 100,000
of them take a fifth of a second. Words that most chunks have say the least. So the rarest words
choose which chunks are ranked, and all words rank them; only where very few are found that way,
all words choose. An index with fewer chunks than `RANKED_CHUNKS` is always ranked in full.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from geomi.adapters.index.chunk_words import UNORDERED
from geomi.adapters.store.sqlite.connection import SqliteSession
from geomi.adapters.store.statements import statements
from geomi.model.index.search import ChunkKey, Filters, Match, Query

SEARCH_SQL = statements("index", "search")

# Ranking a chunk takes one to two microseconds of CPU, so that the choice costs 20 ms at most.
RANKED_CHUNKS = 10_000
# So many that have a rare word are enough: whatever else there is has only words that all have.
ENOUGH = 20

Parameters = dict[str, str | float | None]


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
    """Part the words into those that choose and those that only rank."""
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
