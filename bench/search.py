"""How well and how fast the embedded index answers.

    python -m bench.search [--chunks 100000] [--model FOLDER] [--fast] [--quality]

1. Quality: nDCG@10 on the retrieval sets of `../shared/corpus` by the scorer of
   `../shared/harness`, by words alone and, with `--model` (a sentence-transformer in ONNX,
   English), by both. Without these folders it is left out.
2. Speed: generated documents of five chunks each, words drawn by Zipf's law, a quarter of them in
   Hangul, with a vector of 384 numbers each. 200 queries of 2 to 9 words, drawn the same way so
   that they have common words as well, are answered by `engine/enrich/search.py` with both
   rankings, fused, with snippets. The query's own vector comes from the model where one is named,
   else it is made up.

The last line is for other programs.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np

from bench.adapters import retrieve
from geomi.adapters.index.sqlite import SqliteIndex, open_sqlite_index
from geomi.adapters.models.onnx import OnnxEmbedder
from geomi.engine.enrich.search import search
from geomi.model.index.chunk import Chunk
from geomi.model.index.search import NO_FILTERS, ChunkKey, Filters, IndexDocument
from geomi.ports.models import Embedder, OnAnswer, Vectors, unheard

SHARED = Path(__file__).parents[2] / "shared"
CORPUS = Path(os.environ.get("GEOMI_CORPUS") or SHARED / "corpus")
SETS = ("ko_korquad", "en_code_chunks")
DIMENSIONS = 384
VOCABULARY = 50_000
CHUNK_WORDS = 220
CHUNKS_PER_DOCUMENT = 5
KOREAN_SHARE = 0.25
SITES = 50
AT_ONCE = 100
QUERIES = 200
SYLLABLES = [chr(0xAC00 + 37 * at % 11_172) for at in range(600)]


def main() -> None:
    """Print quality and speed."""
    options = _options()
    embedder = OnnxEmbedder(options.model, languages=("en",)) if options.model else None
    told = [] if options.fast else list(_quality(embedder))
    if not options.quality:
        told.append(asyncio.run(_speed(options.chunks, embedder)))
    print(" ".join(told))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench.search")
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--model", type=Path, help="folder with model.onnx and tokenizer.json")
    parser.add_argument("--fast", action="store_true", help="leave out quality")
    parser.add_argument("--quality", action="store_true", help="leave out speed")
    return parser.parse_args()


def _quality(embedder: Embedder | None) -> Iterator[str]:
    """Score each set, print what the scorer says, and yield its main figure."""
    harness = SHARED / "harness"
    if not (CORPUS / "retrieval").is_dir() or not harness.is_dir():
        print(f"no {CORPUS / 'retrieval'} or no {harness}: quality is left out", file=sys.stderr)
        return
    sys.path.insert(0, str(harness))
    load = importlib.import_module("score_retrieval").load
    for name in SETS:
        texts, asked = load(str(CORPUS / "retrieval" / name))
        queries = [(str(query), words) for query, words, _ in asked]
        yield f"{name}={_score(harness, name, 'words', retrieve(texts, queries))}"
        if embedder is not None:
            both = _score(harness, name, "both", retrieve(texts, queries, embedder))
            yield f"{name}_both={both}"


def _score(harness: Path, name: str, how: str, run: dict[str, list[str]]) -> str:
    with tempfile.NamedTemporaryFile("w", suffix=f".{how}.json") as file:
        json.dump(run, file)
        file.flush()
        scorer = [sys.executable, str(harness / "score_retrieval.py")]
        command = [*scorer, str(CORPUS / "retrieval" / name), "--run", file.name]
        told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    print(f"{how:<6} {told.strip()}")
    return told.partition("nDCG@10=")[2].split()[0]


async def _speed(chunks: int, embedder: OnnxEmbedder | None) -> str:
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(open_sqlite_index(Path(folder), tenant="bench")) as index,
    ):
        words = _Words()
        model = _Model(embedder)
        started_s = time.process_time()
        await _fill(index, words, chunks, model.name)
        write_ms = 1000 * (time.process_time() - started_s) / chunks
        print(
            f"{chunks:,} chunks, {write_ms:.2f} CPU ms each to put in, {_size_mb(folder):,.0f} MB"
        )
        queries = [words.text(int(words.rng.integers(2, 10)), at % 4 == 0) for at in range(QUERIES)]
        told = ""
        print(f"{'':<24}{'median ms':>10}{'p95':>8}{'CPU ms':>8}")
        one_site = Filters(sites=("site7.test",))
        for name, filters, with_vectors in (
            ("words", NO_FILTERS, None),
            ("words and vectors", NO_FILTERS, model),
            ("both, of one site", one_site, model),
        ):
            median, p95, cpu_ms = await _timed(index, queries, filters, with_vectors)
            print(f"{name:<24}{median:>10.1f}{p95:>8.1f}{cpu_ms:>8.1f}")
            if with_vectors is model and filters is NO_FILTERS:
                told = f"chunks={chunks} hybrid_median_ms={median:.1f} hybrid_p95_ms={p95:.1f}"
        return told


def _size_mb(folder: str) -> float:
    return sum(file.stat().st_size for file in Path(folder).iterdir()) / 1e6


async def _timed(
    index: SqliteIndex, queries: Sequence[str], filters: Filters, model: Embedder | None
) -> tuple[float, float, float]:
    await search(index, queries[0], filters=filters, embedder=model)  # reads all vectors once
    took_s, started_s = [], time.process_time()
    for query in queries:
        begun_s = time.perf_counter()
        await search(index, query, filters=filters, embedder=model)
        took_s.append(time.perf_counter() - begun_s)
    cpu_ms = 1000 * (time.process_time() - started_s) / len(queries)
    return 1000 * float(np.median(took_s)), 1000 * float(np.percentile(took_s, 95)), cpu_ms


async def _fill(index: SqliteIndex, words: _Words, chunks: int, model: str) -> None:
    batch: list[IndexDocument] = []
    for document in _documents(words, chunks):
        batch.append(document)
        if len(batch) == AT_ONCE:
            await _put(index, batch, words, model)
            batch = []
    await _put(index, batch, words, model)


async def _put(index: SqliteIndex, batch: list[IndexDocument], words: _Words, model: str) -> None:
    keys = [ChunkKey(one.id, chunk.id) for one in batch for chunk in one.chunks]
    await index.put(batch)
    if keys:
        await index.vectors.put(model, keys, words.vectors(len(keys)))


def _documents(words: _Words, chunks: int) -> Iterator[IndexDocument]:
    for number in range(chunks // CHUNKS_PER_DOCUMENT):
        is_korean = words.rng.random() < KOREAN_SHARE
        parts = tuple(
            Chunk(
                f"{number * CHUNKS_PER_DOCUMENT + at:x}-0", words.text(CHUNK_WORDS, is_korean),
                (f"Section {at}",), at, CHUNK_WORDS, "words",
            )
            for at in range(CHUNKS_PER_DOCUMENT)
        )  # fmt: skip
        site = f"site{number % SITES}.test"
        url, language = f"https://{site}/{number}", "ko" if is_korean else "en"
        yield IndexDocument(
            str(number), url, f"Page {number}", "main", site, "job", parts, language=language
        )


class _Words:
    """Words drawn by Zipf's law, in Latin letters or Hangul, and vectors of any direction."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(1)
        weights = 1 / np.arange(1, VOCABULARY + 1)
        self._share = np.cumsum(weights / weights.sum())

    def text(self, words: int, is_korean: bool) -> str:
        drawn = np.searchsorted(self._share, self.rng.random(words)).tolist()
        return " ".join(map(_korean if is_korean else _latin, drawn))

    def vectors(self, number: int) -> Vectors:
        made = self.rng.standard_normal((number, DIMENSIONS), dtype=np.float32)
        unit: Vectors = made / np.linalg.norm(made, axis=1, keepdims=True)
        return unit


class _Model:
    """An embedder of queries: a real one, or made-up vectors; it takes every language."""

    languages = frozenset(("en", "ko"))
    dimensions = DIMENSIONS
    name = "bench"

    def __init__(self, real: OnnxEmbedder | None) -> None:
        self._real = real
        self._made = _Words()

    async def embed(
        self, texts: Sequence[str], *, is_query: bool = False, on_answer: OnAnswer = unheard
    ) -> Vectors:
        if self._real is not None:
            return await self._real.embed(texts, is_query=is_query, on_answer=on_answer)
        return self._made.vectors(len(texts))


def _latin(number: int) -> str:
    letters = "bcdfgklmnprstvz"
    word = ""
    while True:
        number, at = divmod(number, 75)
        word += letters[at % 15] + "aeiou"[at // 15]
        if not number:
            return word


def _korean(number: int) -> str:
    return SYLLABLES[number % 600] + SYLLABLES[number // 600 % 600] + SYLLABLES[number * 7 % 600]


if __name__ == "__main__":
    main()
