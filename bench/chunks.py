"""How the pages of the documentation corpus come out as chunks, and what that costs.

    python -m bench.chunks

reads `content/docs.jsonl.xz` (`$GEOMI_CORPUS`, or `../shared/corpus`), makes markdown of each page
and chunks of that, and prints the sizes of all chunks, how many code blocks were kept whole or cut
into blocks of the same language, and CPU time a page. Code is read by a parser of CommonMark, which
knows nothing of how chunks are made. The last line is for other programs.
"""

from __future__ import annotations

import json
import lzma
import os
import time
from collections import Counter
from itertools import islice
from pathlib import Path

from geomi.chunk.split import MAX_TOKENS, MIN_TOKENS, split
from geomi.extract.page import extract
from geomi.model.config import Extraction
from geomi.model.index.chunk import Chunked
from tests.support.markdown import fences

CORPUS = Path(os.environ.get("GEOMI_CORPUS") or Path(__file__).parents[2] / "shared" / "corpus")
STEP = 100
ROUNDS = 3


def main() -> None:
    """Cut every page, and print how it went."""
    pages = read_pages(CORPUS / "content" / "docs.jsonl.xz")
    results = [split(page) for page in pages]
    sizes = [chunk.tokens for chunked in results for chunk in chunked.chunks]
    print(f"{len(pages)} pages, {len(sizes)} chunks, mean {sum(sizes) / len(sizes):.0f}")
    for low, number in sorted(Counter(size // STEP * STEP for size in sizes).items()):
        print(f"{low:>5}–{low + STEP - 1:<5}{number:>6}")
    whole, cut, torn = count_code(pages, results)
    print(f"code blocks: {whole} whole, {cut} parts of larger ones, {torn} torn open or changed")
    above = sum(size > MAX_TOKENS for size in sizes)
    small = 100 * sum(size < MIN_TOKENS for size in sizes) / len(sizes)
    print(f"above={above} small_percent={small:.2f} torn={torn} cpu_ms_page={_cpu_ms(pages):.2f}")


def read_pages(file: Path, *, step: int = 1) -> list[str]:
    """Return the markdown of every so many pages of a file."""
    with lzma.open(file) as lines:
        rows = [json.loads(line) for line in islice(lines, 0, None, step)]
    return [
        extract(
            row["html"].encode("utf-8", "replace"), row["url"], "text/html; charset=utf-8",
            Extraction(), max_links=0,
        ).markdown
        for row in rows
    ]  # fmt: skip


def count_code(pages: list[str], results: list[Chunked]) -> tuple[int, int, int]:
    """Count code blocks that are whole in a chunk, that are lines of a larger one, and others."""
    whole = cut = torn = 0
    for page, chunked in zip(pages, results, strict=True):
        sources = fences(page)
        for chunk in chunked.chunks:
            for info, code in fences(chunk.text):
                if (info, code) in sources:
                    whole += 1
                elif any(info == language and code in source for language, source in sources):
                    cut += 1
                else:
                    torn += 1
    return whole, cut, torn


def _cpu_ms(pages: list[str]) -> float:
    best_s = float("inf")
    for _ in range(ROUNDS):
        started_s = time.process_time()
        for page in pages:
            split(page)
        best_s = min(best_s, time.process_time() - started_s)
    return 1000 * best_s / len(pages)


if __name__ == "__main__":
    main()
