"""Chunks, and figures about the chunks of a page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """Counts the tokens of a text; its name is in each chunk (G-16)."""

    name: str
    count: Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Chunk:
    """A part of a page, in markdown.

    Args:
        id: made of the text itself, so that it stays when another part of the page is edited;
            unique within its page.
        headings: the headings that all of it stands under, outermost first.
        position: its place among the page's chunks, from 0.
        tokenizer: name of what counted `tokens`.
        url: the page that it was taken from, if its document names others; empty if not.
    """

    id: str
    text: str
    headings: tuple[str, ...]
    position: int
    tokens: int
    tokenizer: str
    url: str = ""


@dataclass(frozen=True, slots=True)
class Chunked:
    """All chunks of a page, and how many parts were left out as empty, repeated or too many."""

    chunks: tuple[Chunk, ...]
    empty: int = 0
    duplicates: int = 0
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class ChunkCounts:
    """How the chunks of some pages came out.

    Args:
        chunks, tokens: what is kept; `empty` and `repeated` are not, and were parts as well.
        copies: kept chunks that another page, or another section, has as well.
        smallest: tokens of the smallest chunk that has a neighbour; None where none has.
    """

    pages: int = 0
    chunks: int = 0
    tokens: int = 0
    empty: int = 0
    repeated: int = 0
    copies: int = 0
    smallest: int | None = None

    @property
    def parts(self) -> int:
        """How many parts there were before any was dropped."""
        return self.chunks + self.empty + self.repeated


class ChunkMeasure(StrEnum):
    """What is measured of the chunks of a job or a collection (seed 000 §9.2)."""

    MEAN_TOKENS = "mean_chunk_tokens"  # MON-09
    EMPTY = "empty_chunks"  # MON-10
    REPEATED = "repeated_chunks"  # MON-11
    SMALLEST = "smallest_chunk"  # MON-12
    PER_PAGE = "chunks_per_page"  # MON-13


@dataclass(frozen=True, slots=True)
class ChunkIndicator:
    """One measure of chunks, its band, and what to check where it lies outside.

    Args:
        value: None where there is nothing to measure.
        most: None where the band has no upper end.
    """

    measure: ChunkMeasure
    value: float | None
    least: float
    most: float | None
    advice: str

    @property
    def is_healthy(self) -> bool:
        """Whether the value lies within its band."""
        if self.value is None:
            return True
        return self.least <= self.value and (self.most is None or self.value <= self.most)
