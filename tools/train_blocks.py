"""Learn which blocks of a page are its content, and write `src/geomi/extract/content/blocks.json`.

First the words that name elements get a weight each (logistic regression on the words of a block's
places), then a forest learns from those sums and all other numbers. What the forest learns from are
sums of weights that the other half of the hosts gave, so that it does not trust them too much; the
kinds of pages come from models that did not see their hosts, either. Run:
`python -m tools.train_blocks` after `tools.train_kind`; needs numpy alone. With `--scores` it
also cross-validates by host and stores the scores (five times as long).
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from functools import partial
from pathlib import Path

import numpy as np
import orjson
from numpy.typing import NDArray

import geomi.extract.content
from geomi.extract.content.blocks import weigh_words, words_of
from geomi.extract.content.kind import KINDS, Likely
from geomi.extract.content.selection import select_blocks
from geomi.extract.content.weights import (
    DEPTH,
    LEAVES,
    Forest,
    PlaceFeatures,
    describe_blocks,
    predict,
    read_paths,
)
from tools.boosting import Floats, fit
from tools.train_kind import kinds_by_strangers
from tools.training_set import FOLDS, Sample, read_samples

MIN_PAGES = 30  # a word must name elements on so many
PENALTY = 20.0
STEPS = 60
RATE = 0.15
DIGITS = 4  # of bounds and answers, in the file

Pages = list[tuple[Sample, Likely]]


def main() -> None:
    """Learn from all pages and write the model, with its scores if they are asked for."""
    samples = read_samples()
    pages = list(zip(samples, kinds_by_strangers(samples), strict=True))
    scores = _cross_validate(pages) if "--scores" in sys.argv else {}
    words, forest = _learn(pages)
    stored = {"scores": scores, "start": round(forest.start, DIGITS), "trees": _trees(forest)}
    stored["words"] = {word: round(weight, 2) for word, weight in words.items()}
    target = Path(geomi.extract.content.__file__).parent / "blocks.json"
    target.write_bytes(orjson.dumps(stored) + b"\n")
    print(scores)


def _learn(pages: Pages) -> tuple[dict[str, float], Forest]:
    halves = [_word_weights([s for s, _ in pages if s.half != half]) for half in (0, 1)]
    tables = [_table(sample, kind, halves[sample.half]) for sample, kind in pages]
    right = np.concatenate([sample.right for sample, _ in pages])
    weight = np.concatenate([sample.weight for sample, _ in pages])
    known = weight > 0
    forest = fit(np.concatenate(tables, axis=1).T[known], right[known], weight[known])
    return _word_weights([sample for sample, _ in pages]), forest


def _table(sample: Sample, kind: Likely, words: dict[str, float]) -> Floats:
    paths = read_paths(sample.blocks, partial(weigh_words, weights=words))
    places = PlaceFeatures(paths, sample.marks)
    return describe_blocks(sample.blocks, places, kind)


def _word_weights(samples: list[Sample]) -> dict[str, float]:
    """Return what each word weighs; a word counts as often as it names a place around a block."""
    pages = Counter(
        word
        for sample in samples
        for word in {w for name in set(sample.blocks.names) for w in words_of(name)}
    )
    vocabulary = sorted(word for word, count in pages.items() if count >= MIN_PAGES)
    numbers = {word: number for number, word in enumerate(vocabulary)}
    rows: list[list[int]] = []
    right: list[float] = []
    wrong: list[float] = []
    for sample in samples:
        _add_places(sample, numbers, rows, right, wrong)
    weights = _logistic(rows, np.array(right), np.array(wrong), len(vocabulary))
    return dict(zip(vocabulary, weights.tolist(), strict=True))


def _add_places(
    sample: Sample,
    numbers: dict[str, int],
    rows: list[list[int]],
    right: list[float],
    wrong: list[float],
) -> None:
    blocks = sample.blocks
    share = np.maximum(sample.right, 0)
    good = np.bincount(blocks.homes, sample.weight * share, len(blocks.names))
    bad = np.bincount(blocks.homes, sample.weight * (1 - share), len(blocks.names))
    paths: list[list[int]] = []
    for place, (name, parent) in enumerate(zip(blocks.names, blocks.parents.tolist(), strict=True)):
        own = [numbers[word] for word in words_of(name) if word in numbers]
        paths.append((paths[parent] if paths else []) + own)
        if good[place] + bad[place] > 0:
            rows.append(paths[-1])
            right.append(float(good[place]))
            wrong.append(float(bad[place]))


def _logistic(
    rows: list[list[int]], right: NDArray[np.float64], wrong: NDArray[np.float64], count: int
) -> NDArray[np.float64]:
    """Fit with Adam; the last weight is always added and not kept."""
    flat = np.array([number for row in rows for number in row], np.int64)
    owner = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
    weights, mean, square = np.zeros((3, count + 1))
    total = float((right + wrong).sum())
    for step in range(1, STEPS + 1):
        said = np.bincount(owner, weights[flat], len(rows)) + weights[-1]
        likely = 1 / (1 + np.exp(-np.clip(said, -30, 30)))
        rest = right * (1 - likely) - wrong * likely
        slope = np.append(np.bincount(flat, rest[owner], count), rest.sum())
        slope[:-1] -= PENALTY * weights[:-1]
        slope /= total
        mean = 0.9 * mean + 0.1 * slope
        square = 0.99 * square + 0.01 * slope**2
        pace = RATE * (0.97**step if step > STEPS // 3 else 1.0)
        weights += pace * mean / (1 - 0.9**step) / (np.sqrt(square / (1 - 0.99**step)) + 1e-9)
    return weights[:-1]


def _trees(forest: Forest) -> list[dict[str, object]]:
    columns = forest.rows.reshape(DEPTH, -1).T.tolist()
    bounds = forest.bounds.reshape(DEPTH, -1).T.astype(np.float64).round(DIGITS).tolist()
    answers = forest.answers.reshape(-1, LEAVES).astype(np.float64).round(DIGITS).tolist()
    return [
        {"questions": list(zip(c, b, strict=True)), "answers": a}
        for c, b, a in zip(columns, bounds, answers, strict=True)
    ]


def _cross_validate(pages: Pages) -> dict[str, object]:
    """Return the word F1 of blocks of pages whose hosts took no part, by kind."""
    found: dict[str, list[float]] = defaultdict(list)
    for fold in range(FOLDS):
        words, forest = _learn([page for page in pages if page[0].fold != fold])
        for sample, kind in pages:
            if sample.fold == fold and sample.source != "trafeval":
                kept = select_blocks(
                    sample.blocks, predict(forest, _table(sample, kind, words)), kind
                ).kept
                texts = [t for t, stays in zip(sample.blocks.texts, kept, strict=True) if stays]
                name = sample.kind if sample.source == "wcxb" else "docs"
                found[name].append(_word_f1(" ".join(texts), sample.content))
        print(f"fold {fold} done", file=sys.stderr)
    every = [score for kind in KINDS for score in found[kind]]
    f1 = {name: round(sum(scores) / len(scores), 3) for name, scores in sorted(found.items())}
    return {
        "pages": len(every),
        "folds_by_host": FOLDS,
        "f1": round(sum(every) / len(every), 4),
        "by": f1,
    }


def _word_f1(found: str, wanted: str) -> float:
    left, right = (Counter("".join(_kept(text)).split()) for text in (found, wanted))
    return 2 * (left & right).total() / ((left.total() + right.total()) or 1)


def _kept(text: str) -> list[str]:
    return [sign if sign.isalnum() or sign == "_" else " " for sign in text.lower()]


if __name__ == "__main__":
    main()
