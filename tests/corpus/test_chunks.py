"""Chunks of real documentation: the floors that may rise and not fall."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.chunks import count_code, read_pages
from geomi.chunk.split import HEALTHY_TOKENS, MAX_TOKENS, MIN_TOKENS, split
from tests.conftest import corpus_file

pytestmark = pytest.mark.corpus


@pytest.mark.req("CHK-01", "CHK-02")
@pytest.mark.slow
def test_documentation_is_cut_well(corpus: Path) -> None:
    """None too large, next to none too small, no code torn open, a healthy mean."""
    pages = read_pages(corpus_file(corpus, "content/docs.jsonl.xz"), step=3)
    results = [split(page) for page in pages]
    sizes = [chunk.tokens for chunked in results for chunk in chunked.chunks]
    assert max(sizes) <= MAX_TOKENS
    assert sum(size < MIN_TOKENS for size in sizes) < 0.02 * len(sizes)
    assert sum(sizes) >= HEALTHY_TOKENS * len(sizes)
    assert len(results) <= len(sizes) <= 20 * len(results)
    whole, _, torn = count_code(pages, results)
    assert whole > 0
    assert torn == 0
