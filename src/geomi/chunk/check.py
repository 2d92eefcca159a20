"""Check whether chunks have a healthy size and number (CHK-03, MON-09…MON-13).

A figure outside its bounds means that extraction or cutting went wrong; its hint says where.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields

from geomi.chunk.split import MIN_TOKENS
from geomi.model.index.chunk import ChunkCounts, Chunked, ChunkFinding

MEAN_TOKENS = (200, 500)  # no mean can be above the most of a chunk (C-37)
MAX_EMPTY_SHARE = 0.05
MAX_DUPLICATE_SHARE = 0.10
CHUNKS_PER_PAGE = (1, 20)


def count_chunks(chunked: Chunked) -> ChunkCounts:
    """Count the chunks of one page."""
    return ChunkCounts(
        pages=1,
        chunks=len(chunked.chunks),
        tokens=sum(chunk.tokens for chunk in chunked.chunks),
        small=sum(chunk.tokens < MIN_TOKENS for chunk in chunked.chunks),
        empty=chunked.empty,
        duplicates=chunked.duplicates,
    )


def total(counts: Iterable[ChunkCounts]) -> ChunkCounts:
    """Add up the counts of many pages."""
    several = list(counts)
    names = (field.name for field in fields(ChunkCounts))
    return ChunkCounts(**{name: sum(getattr(one, name) for one in several) for name in names})


def check(
    counts: ChunkCounts, *, max_mean_tokens: int = MEAN_TOKENS[1]
) -> tuple[ChunkFinding, ...]:
    """Return what is outside of its band; the band of the mean ends where the caller says (C-37).

    Chunks below the least size are those that had no neighbour to be merged with: a page of its own
    that is as short as that is no fault, so that one in a page is allowed.
    """
    if not counts.pages:
        return ()
    chunks, parts = max(1, counts.chunks), max(1, counts.parts)
    measured = (
        ChunkFinding(
            "MON-09", "mean tokens of a chunk", counts.tokens / chunks,
            MEAN_TOKENS[0], max_mean_tokens, "check the content selectors and how pages are split",
        ),
        ChunkFinding(
            "MON-10", "share of empty chunks", counts.empty / parts,
            0, MAX_EMPTY_SHARE, "check extraction: selectors may have changed",
        ),
        ChunkFinding(
            "MON-11", "share of repeated chunks", counts.duplicates / parts,
            0, MAX_DUPLICATE_SHARE, "strengthen deduplication: URL rules, content hashes",
        ),
        ChunkFinding(
            "MON-12", f"chunks below {MIN_TOKENS} tokens a page", counts.small / counts.pages,
            0, 1, "check how small chunks are merged",
        ),
        ChunkFinding(
            "MON-13", "chunks a page", counts.chunks / counts.pages,
            *CHUNKS_PER_PAGE, "check the parser and how pages are split",
        ),
    )  # fmt: skip
    return tuple(one for one in measured if not one.least <= one.value <= one.most)
