"""Chunks of real documentation: the floors that may rise and not fall."""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from geomi.chunk.check import check, count_chunks, total
from geomi.chunk.split import MAX_TOKENS, split
from geomi.extract.page import extract
from geomi.model.config import Extraction
from tests.conftest import corpus_file

pytestmark = pytest.mark.corpus


def pages(file: Path, *, step: int) -> Iterator[str]:
    """Yield the markdown of every so many pages."""
    with lzma.open(file) as lines:
        for line in islice(lines, 0, None, step):
            row = json.loads(line)
            body = row["html"].encode("utf-8", "replace")
            kind = "text/html; charset=utf-8"
            yield extract(body, row["url"], kind, Extraction(), max_links=0).markdown


def fences(markdown: str) -> list[tuple[str, str]]:
    """Return language and text of each code block."""
    tokens = MarkdownIt().parse(markdown)
    return [(token.info, token.content) for token in tokens if token.type == "fence"]


@pytest.mark.req("CHK-01", "CHK-02", "CHK-03")
@pytest.mark.slow
def test_documentation_is_cut_well(corpus: Path) -> None:
    """None too large, next to none too small, no code torn open, all bands healthy."""
    texts = list(pages(corpus_file(corpus, "content/docs.jsonl.xz"), step=3))
    results = [split(text) for text in texts]
    counts = total(map(count_chunks, results))
    assert max(chunk.tokens for chunked in results for chunk in chunked.chunks) <= MAX_TOKENS
    assert counts.small < 0.02 * counts.chunks
    assert check(counts) == ()
    for text, chunked in zip(texts, results, strict=True):
        sources = fences(text)
        for chunk in chunked.chunks:
            for info, code in fences(chunk.text):
                assert any(info == other and code in source for other, source in sources)
