"""The values of search: what an index stores, queries, and results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from geomi.model.index.chunk import Chunk

PREVIEW_CHARS = 500  # IDX-03


class KeptText(StrEnum):
    """How much of a text is kept: of a page, and of a chunk beside what it is found by (C-39)."""

    FULL = "full"
    PREVIEW = "preview"  # at most 500 characters, and nothing of the order of its words (IDX-03)


@dataclass(frozen=True, slots=True)
class IndexDocument:
    """A page's version in a collection, as an index takes it.

    Args:
        id: names it in its tenant; a document that is put again replaces the one before.
        site: whose page it is, as deletes and filters name it.
        date_s: when it was last changed, or first seen where nobody says.
    """

    id: str
    url: str
    title: str
    collection: str
    site: str
    job: str
    chunks: tuple[Chunk, ...]
    page_type: str = ""
    language: str = ""
    date_s: float = 0.0
    kept: KeptText = KeptText.FULL


@dataclass(frozen=True, slots=True, order=True)
class ChunkKey:
    """Names a chunk in an index."""

    document: str
    chunk: str


@dataclass(frozen=True, slots=True)
class Filters:
    """Which documents count; an empty tuple is no condition, several values are alternatives."""

    collections: tuple[str, ...] = ()
    sites: tuple[str, ...] = ()
    page_types: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    since_s: float | None = None
    until_s: float | None = None


NO_FILTERS = Filters()


@dataclass(frozen=True, slots=True)
class Query:
    """A query as an index reads it: any of `tokens`, and every one of `phrases`."""

    text: str
    tokens: tuple[str, ...]
    phrases: tuple[tuple[str, ...], ...] = ()

    @property
    def wanted(self) -> frozenset[str]:
        """Every token that is looked for."""
        return frozenset(self.tokens).union(*self.phrases)


@dataclass(frozen=True, slots=True)
class Match:
    """A chunk that an index found; a higher score is better, and compares within one answer."""

    key: ChunkKey
    score: float


@dataclass(frozen=True, slots=True)
class IndexedChunk:
    """A chunk as an index keeps it: `text` is a preview where no more is kept."""

    key: ChunkKey
    url: str
    title: str
    headings: tuple[str, ...]
    text: str
    collection: str
    site: str
    page_type: str
    language: str
    date_s: float


@dataclass(frozen=True, slots=True)
class Snippet:
    """A short quotation, and where in it the words stand that were looked for."""

    text: str
    marks: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Hit:
    """One answer to a query.

    Args:
        ranks: its place, from 1, in each ranking that found it (`words`, `vectors`).
    """

    passage: IndexedChunk
    snippet: Snippet
    score: float
    ranks: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class SearchResults:
    """The answers to a query, best first, and why vectors had no say where they should have."""

    hits: tuple[Hit, ...]
    problem: str = ""


class IndexScope(StrEnum):
    """What is taken out of an index at once."""

    DOCUMENT = "document"
    SITE = "site"
    JOB = "job"
    COLLECTION = "collection"
    TENANT = "tenant"


@dataclass(frozen=True, slots=True)
class IndexCounts:
    """How much an index holds of a tenant."""

    documents: int
    chunks: int
    vectors: int
