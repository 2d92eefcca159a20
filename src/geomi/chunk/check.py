"""Check whether chunks have a healthy size and number (CHK-03, MON-09…MON-13).

A measure outside its band means that extraction or cutting went wrong; its advice says where to
look. The mean may be 600 tokens by its band; geomi's own chunks never exceed 500 (C-37).
"""

from __future__ import annotations

from collections import Counter

from geomi.chunk.split import HEALTHY_TOKENS, MIN_TOKENS
from geomi.model.index.chunk import ChunkCounts, Chunked, ChunkIndicator, ChunkMeasure
from geomi.model.index.document import DocumentRow

MAX_MEAN_TOKENS = 600
MAX_EMPTY_SHARE = 0.05
MAX_REPEATED_SHARE = 0.10
MAX_CHUNKS_PER_PAGE = 20
LEAST_PARTS = 20  # fewer say nothing: one short page is no fault of the crawl
DIGEST_BYTES = 8


def digests(chunked: Chunked) -> bytes:
    """Return the digests of a page's chunks, by which the same text is found on other pages."""
    return b"".join(bytes.fromhex(chunk.id[: 2 * DIGEST_BYTES]) for chunk in chunked.chunks)


class ChunkTally:
    """Adds up the chunks of many pages."""

    def __init__(self) -> None:
        self._sums: Counter[str] = Counter()
        self._smallest: int | None = None
        self._seen: set[bytes] = set()

    def add(self, row: DocumentRow) -> None:
        """Add a document; one whose chunks were not counted is left out."""
        if row.chunk_tokens is None:
            return
        self._sums.update(
            pages=1,
            chunks=row.chunks,
            tokens=row.chunk_tokens,
            empty=row.empty_chunks,
            repeated=row.repeated_chunks,
        )
        if row.smallest_chunk is not None:
            self._smallest = min(row.smallest_chunk, self._smallest or row.smallest_chunk)
        for start in range(0, len(row.chunk_digests), DIGEST_BYTES):
            digest = row.chunk_digests[start : start + DIGEST_BYTES]
            self._sums["copies"] += digest in self._seen
            self._seen.add(digest)

    @property
    def counts(self) -> ChunkCounts:
        """What was added so far."""
        return ChunkCounts(**self._sums, smallest=self._smallest)


def check(counts: ChunkCounts) -> tuple[ChunkIndicator, ...]:
    """Return every measure with its band; nothing where no page was cut."""
    if not counts.pages:
        return ()
    chunks, parts = max(1, counts.chunks), max(1, counts.parts)
    return (
        ChunkIndicator(
            ChunkMeasure.MEAN_TOKENS,
            counts.tokens / chunks,
            HEALTHY_TOKENS,
            MAX_MEAN_TOKENS,
            "check the content selectors and how pages are split",
        ),
        ChunkIndicator(
            ChunkMeasure.EMPTY,
            counts.empty / parts,
            0,
            MAX_EMPTY_SHARE,
            "check the extraction; the site may have changed what its selectors match",
        ),
        ChunkIndicator(
            ChunkMeasure.REPEATED,
            (counts.repeated + counts.copies) / parts,
            0,
            MAX_REPEATED_SHARE,
            "find what pages repeat: URL rules, content selectors, `extract.remove`",
        ),
        ChunkIndicator(
            ChunkMeasure.SMALLEST,
            counts.smallest,
            MIN_TOKENS,
            None,
            "check how small chunks are merged",
        ),
        ChunkIndicator(
            ChunkMeasure.PER_PAGE,
            counts.chunks / counts.pages,
            1,
            MAX_CHUNKS_PER_PAGE,
            "check the content selectors and how pages are split",
        ),
    )


def is_telling(counts: ChunkCounts) -> bool:
    """Return whether there are enough chunks to judge them."""
    return counts.parts >= LEAST_PARTS


def describe_value(indicator: ChunkIndicator) -> str:
    """Write what was measured as people read it."""
    return _number(indicator.measure, indicator.value)


def describe_band(indicator: ChunkIndicator) -> str:
    """Write the band of a measure in signs that every language has."""
    least = _number(indicator.measure, indicator.least)
    most = _number(indicator.measure, indicator.most)
    if indicator.most is None:
        return f"≥ {least}"
    return f"{least}–{most}" if indicator.least else f"≤ {most}"


def _number(measure: ChunkMeasure, value: float | None) -> str:
    if value is None:
        return "-"
    if measure in (ChunkMeasure.EMPTY, ChunkMeasure.REPEATED):
        return f"{100 * value:.3g} %"
    return f"{value:.4g}"
