"""The pages that the extractor learns from: their blocks, and which of them are content.

The sets are those of the corpus (`GEOMI_CORPUS`, or `../shared/corpus`): WCXB with the text and the
kind of each page, the evaluation set of trafilatura with a few phrases that belong to each page or
do not, and documentation. Pages of one host always fall into the same of the `FOLDS`, so that a
model is only ever tried on hosts it has not seen.
"""

from __future__ import annotations

import json
import lzma
import os
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from geomi.extract.content.blocks import Blocks, read_blocks
from geomi.extract.content.kind import claimed_types
from geomi.extract.content.prune import clear, drop_frame
from geomi.extract.content.weights import read_marks
from geomi.extract.dom import parse_html

FOLDS = 5
UNKNOWN = -1.0
# How much the words of one page weigh against those of another: documentation comes from a few
# sites that are all alike, and a phrase of the evaluation set stands for a whole block.
PAGE_WEIGHTS = {"wcxb": 1.0, "docs": 0.25, "trafeval": 1.0}

_WORD = re.compile(r"\w+")
_NGRAM = 4


@dataclass(frozen=True, slots=True)
class Sample:
    """One page: of each block, which share of its words is content, and how much it weighs."""

    source: str
    name: str
    fold: int
    half: int  # of the folds it is learned from
    kind: str
    claimed: frozenset[str]
    blocks: Blocks
    marks: NDArray[np.intp]
    right: NDArray[np.float32]
    weight: NDArray[np.float32]
    content: str


def corpus() -> Path:
    """Return the folder with the sets."""
    return Path(os.environ.get("GEOMI_CORPUS") or Path(__file__).parents[2] / "shared/corpus")


def read_samples(sources: Iterable[str] = tuple(PAGE_WEIGHTS)) -> list[Sample]:
    """Read some sets, or all three; pages without any text teach nothing."""
    found = (_sample(source, row) for source in sources for row in read_rows(source))
    return [sample for sample in found if sample is not None]


def read_rows(source: str) -> Iterator[dict[str, object]]:
    """Read the pages of one set as they are stored."""
    with lzma.open(corpus() / "content" / f"{source}.jsonl.xz", "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def _sample(source: str, row: dict[str, object]) -> Sample | None:
    document = parse_html(str(row["html"]).encode("utf-8", "replace"), "text/html; charset=utf-8")
    claimed = claimed_types(document)
    body = document.select_one("body")
    if body is None:
        return None
    clear(body, ())
    drop_frame(body)
    blocks = read_blocks(body)
    if not blocks.texts:
        return None
    content = str(row.get("main_content") or "")
    right = _told(blocks, row) if source == "trafeval" else _aligned(blocks.texts, content)
    host = zlib.crc32(str(row.get("domain") or row.get("site") or row["id"]).encode())
    sample = Sample(
        source=source,
        name=str(row["id"]),
        fold=host % FOLDS,
        half=host // FOLDS % 2,
        kind=str(row.get("page_type") or "documentation"),
        claimed=claimed,
        blocks=blocks,
        marks=read_marks(blocks),
        right=right,
        weight=_weight(source, blocks, right),
        content=content,
    )
    blocks.elements, blocks.nodes = (), []  # the trees of all pages together would not fit
    return sample


def _weight(source: str, blocks: Blocks, right: NDArray[np.float32]) -> NDArray[np.float32]:
    known = (right != UNKNOWN).astype(np.float32)
    if source == "trafeval":
        return np.asarray(known * PAGE_WEIGHTS[source], np.float32)
    words = np.array([len(_WORD.findall(text)) for text in blocks.texts], np.float32)
    # Between every word and every page the same: long pages count more, but not by their length.
    weight = words / max(float(words.sum()), 1.0) ** 0.7 * PAGE_WEIGHTS[source]
    return np.asarray(weight, np.float32)


def _told(blocks: Blocks, row: dict[str, object]) -> NDArray[np.float32]:
    wanted, unwanted = _phrases(row["with"]), _phrases(row["without"])
    return np.array(
        [
            1.0
            if any(phrase in text for phrase in wanted)
            else (0.0 if any(phrase in text for phrase in unwanted) else UNKNOWN)
            for text in blocks.texts
        ],
        np.float32,
    )


def _phrases(value: object) -> list[str]:
    return [" ".join(str(phrase).split()) for phrase in value] if isinstance(value, list) else []


def _aligned(texts: list[str], content: str) -> NDArray[np.float32]:
    """Return which share of each block's words is in the content, no word counted twice."""
    wanted = _WORD.findall(content.lower())
    left = Counter(wanted)
    runs = {
        size: {tuple(wanted[at : at + size]) for at in range(len(wanted) - size + 1)}
        for size in range(1, _NGRAM + 1)
    }
    words = [_WORD.findall(text.lower()) for text in texts]
    right = np.zeros(len(texts), np.float32)
    # Long blocks first: short ones are found in the content by chance, too.
    for number in sorted(range(len(texts)), key=lambda at: -min(len(words[at]), 2 * _NGRAM)):
        found = _found(words[number], runs)
        taken = 0
        for word in found:
            if left[word] > 0:
                left[word] -= 1
                taken += 1
        right[number] = taken / max(len(words[number]), 1)
    return right


def _found(words: list[str], runs: dict[int, set[tuple[str, ...]]]) -> list[str]:
    size = min(_NGRAM, len(words))
    covered = [False] * len(words)
    for at in range(len(words) - size + 1 if size else 0):
        if tuple(words[at : at + size]) in runs[size]:
            covered[at : at + size] = [True] * size
    return [word for word, is_covered in zip(words, covered, strict=True) if is_covered]
