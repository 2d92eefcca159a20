"""Chunks of real documentation: the floors that may rise and not fall."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.chunks import count_code, read_pages
from geomi.chunk.check import check, count_chunks, total
from geomi.chunk.split import MAX_TOKENS, split
from tests.conftest import corpus_file

pytestmark = pytest.mark.corpus


@pytest.mark.req("CHK-01", "CHK-02", "CHK-03")
@pytest.mark.slow
def test_documentation_is_cut_well(corpus: Path) -> None:
    """None too large, next to none too small, no code torn open, all bands healthy."""
    pages = read_pages(corpus_file(corpus, "content/docs.jsonl.xz"), step=3)
    results = [split(page) for page in pages]
    counts = total(map(count_chunks, results))
    assert max(chunk.tokens for chunked in results for chunk in chunked.chunks) <= MAX_TOKENS
    assert counts.small < 0.02 * counts.chunks
    assert check(counts) == ()
    whole, _, torn = count_code(pages, results)
    assert whole > 0
    assert torn == 0
