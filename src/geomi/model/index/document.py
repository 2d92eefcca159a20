"""Documents: pages in a collection with their state, and filters and counts over them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from geomi.model.verdict import State

# With what was understood of them, a thousand documents are some megabytes.
MAX_LISTED = 1000


class DocumentState(StrEnum):
    """What became of a page that was to be indexed."""

    INDEXED = "indexed"
    SKIPPED = "skipped"  # decided against; `reason` says why
    FAILED = "failed"  # its record could not be understood; `detail` says why


def document_id(collection: str, url_hash: bytes) -> str:
    """Return what names a page in a collection, in the store and in the index."""
    return f"{collection}/{url_hash.hex()}"


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """One page of one collection, replaced at each new analysis.

    Args:
        id: names it within its tenant, and in the index.
        site: the host that it is from, by which it is filtered and erased.
        capture: the place in the feed of what was read.
        version: of everything that decides what is made of the same page.
        reason: why it is indexed or not, and `detail` the same in words.
        quality: from 0 to 10; None where nobody looked.
        chunks: how many parts of it can be found.
        chunk_tokens: the tokens of all its chunks; None where they were not counted, or where it
            was made of a preview alone.
        empty_chunks, repeated_chunks: parts that were left out.
        smallest_chunk: tokens of the smallest of several chunks.
        chunk_digests: of their texts, one behind the other.
        analysis: all that was understood, as JSON.
        updated_at_s: wall clock.
    """

    id: str
    url_hash: bytes
    url: str
    title: str
    collection: str
    site: str
    job: str
    capture: int
    version: str
    state: DocumentState
    reason: str
    detail: str
    page_type: str
    language: str
    quality: float | None
    chunks: int
    analysis: bytes
    updated_at_s: float
    chunk_tokens: int | None = None
    empty_chunks: int = 0
    repeated_chunks: int = 0
    smallest_chunk: int | None = None
    chunk_digests: bytes = b""


@dataclass(frozen=True, slots=True)
class DocumentFilter:
    """Which documents are meant; an empty value is no condition."""

    collection: str = ""
    site: str = ""
    job: str = ""
    state: DocumentState | None = None


@dataclass(frozen=True, slots=True)
class CollectionCounts:
    """How many documents of a collection ended in which state."""

    collection: str
    indexed: int
    skipped: int
    failed: int
    chunks: int


@dataclass(frozen=True, slots=True)
class StatusCount:
    """How many URLs of a job are in a state, with the same fate of their documents.

    Args:
        is_page: whether a page is expected there, not a list of URLs.
        document: what became of the page; None where nothing did, or has yet.
        chunks: of these documents.
    """

    state: State
    is_page: bool
    document: DocumentState | None
    entries: int
    chunks: int


@dataclass(frozen=True, slots=True)
class DocumentCounts:
    """How many documents of a job ended in which state."""

    indexed: int = 0
    skipped: int = 0
    failed: int = 0
    chunks: int = 0
