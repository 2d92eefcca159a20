"""Chunks, and figures about the chunks of a page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


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
    """

    id: str
    text: str
    headings: tuple[str, ...]
    position: int
    tokens: int
    tokenizer: str


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
        chunks, tokens: what is kept; `empty` and `duplicates` are not, and were parts as well.
        small: kept chunks below the least size.
    """

    pages: int = 0
    chunks: int = 0
    tokens: int = 0
    small: int = 0
    empty: int = 0
    duplicates: int = 0

    @property
    def parts(self) -> int:
        """How many parts there were before any was dropped."""
        return self.chunks + self.empty + self.duplicates


@dataclass(frozen=True, slots=True)
class ChunkFinding:
    """A number outside of its bounds, and what to check."""

    rule: str
    measure: str
    value: float
    least: float
    most: float
    advice: str
