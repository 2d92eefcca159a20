"""Learn what tells the kind of a page, and write `src/geomi/extract/content/kind.json`.

A linear model (softmax) over facts and words, drawn towards 0. First all words take part that name
elements on enough hosts; the `WORDS` that decide most are kept and learned again. The scores beside
the weights are those of pages whose hosts took no part. Run: `python -m tools.train_kind`, with the
corpus in place; needs numpy alone.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import orjson
from numpy.typing import NDArray

import geomi.extract.content
from geomi.extract.content.kind import FACTS, KINDS, facts, page_words
from tools.training_set import FOLDS, Sample, read_samples

WORDS = 200
MIN_PAGES = 25
MIN_CLAIMS = 8  # pages that claim a type; there are few types
PENALTY = 0.01
# How much a page of each set counts: all documentation of the one set comes from a few sites.
COUNTS = {"wcxb": 1.0, "docs": 0.2}
STEPS = 250
RATE = 0.05

Doubles = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class KindModel:
    """Weights for facts (scaled) and words, and what is always added (the last row)."""

    words: list[str]
    weights: Doubles
    means: Doubles
    scales: Doubles

    def tell(self, told: Doubles, words: Doubles) -> Doubles:
        """Return how likely each kind is, for each page."""
        scaled = np.hstack(((told - self.means) / self.scales, words, np.ones((len(told), 1))))
        return _softmax(scaled @ self.weights)


@dataclass(frozen=True, slots=True)
class _Pages:
    facts: Doubles
    words: Doubles
    vocabulary: list[str]


def kinds_by_strangers(samples: list[Sample]) -> list[NDArray[np.float32]]:
    """Return of each page the kinds that a model tells which saw no page of its host."""
    pages = _pages(samples)
    told = np.zeros((len(samples), len(KINDS)))
    for fold in range(FOLDS):
        inside = np.array([s.fold != fold and s.source in COUNTS for s in samples])
        model = _learn(pages, inside, samples)
        outside = np.array([s.fold == fold for s in samples])
        told[outside] = model.tell(pages.facts[outside], _columns(pages, model.words)[outside])
    return list(told.astype(np.float32))


def main() -> None:
    """Learn from all pages and write the weights with their cross-validated scores."""
    samples = [sample for sample in read_samples() if sample.source in COUNTS]
    scores = _scores(samples, kinds_by_strangers(samples))
    model = _learn(_pages(samples), np.ones(len(samples), np.bool_), samples)
    rows = model.weights.round(3).tolist()
    stored = {
        "scores": scores,
        "always": rows[-1],
        "facts": {
            name: {"mean": round(mean, 4), "scale": round(scale, 4), "weights": row}
            for name, mean, scale, row in zip(
                FACTS, model.means.tolist(), model.scales.tolist(), rows, strict=False
            )
        },
        "words": dict(zip(model.words, rows[len(FACTS) : -1], strict=True)),
    }
    target = Path(geomi.extract.content.__file__).parent / "kind.json"
    target.write_bytes(orjson.dumps(stored) + b"\n")
    print(scores)


def _pages(samples: list[Sample]) -> _Pages:
    words = [page_words(sample.blocks, sample.claimed) for sample in samples]
    count = Counter(word for found in words for word in found)
    vocabulary = sorted(
        word for word, pages in count.items() if pages >= (MIN_CLAIMS if ":" in word else MIN_PAGES)
    )
    table = np.array([[word in found for word in vocabulary] for found in words], np.float64)
    return _Pages(np.array([facts(s.blocks) for s in samples], np.float64), table, vocabulary)


def _columns(pages: _Pages, words: list[str]) -> Doubles:
    return pages.words[:, [pages.vocabulary.index(word) for word in words]]


def _learn(pages: _Pages, inside: NDArray[np.bool_], samples: list[Sample]) -> KindModel:
    learned = [sample for sample, is_in in zip(samples, inside, strict=True) if is_in]
    wanted = np.eye(len(KINDS))[[KINDS.index(sample.kind) for sample in learned]]
    counts = np.array([[COUNTS[sample.source]] for sample in learned])
    told = pages.facts[inside]
    means, scales = told.mean(axis=0), told.std(axis=0) + 1e-6
    scaled = (told - means) / scales
    all_words = pages.words[inside]
    weights = _fit(np.hstack((scaled, all_words)), wanted, counts)[len(FACTS) : -1]
    share = all_words.mean(axis=0)
    strength = np.abs(weights).max(axis=1) * np.sqrt(share * (1 - share))
    best = sorted(np.argsort(-strength, kind="stable")[:WORDS].tolist())
    words = [pages.vocabulary[column] for column in best]
    return KindModel(
        words, _fit(np.hstack((scaled, all_words[:, best])), wanted, counts), means, scales
    )


def _fit(table: Doubles, wanted: Doubles, counts: Doubles) -> Doubles:
    """Climb the likelihood with Adam; the steps become smaller in the second half."""
    table = np.hstack((table, np.ones((len(table), 1))))
    weights = np.zeros((table.shape[1], len(KINDS)))
    mean, square = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, STEPS + 1):
        slope = table.T @ (counts * (wanted - _softmax(table @ weights))) / counts.sum()
        slope[:-1] -= PENALTY * weights[:-1]
        mean = 0.9 * mean + 0.1 * slope
        square = 0.99 * square + 0.01 * slope**2
        pace = RATE * min(1.0, 2 * (1 - step / STEPS) + 0.02)
        weights += pace * mean / (1 - 0.9**step) / (np.sqrt(square / (1 - 0.99**step)) + 1e-8)
    return weights


def _softmax(total: Doubles) -> Doubles:
    likely = np.exp(total - total.max(axis=1, keepdims=True))
    return np.asarray(likely / likely.sum(axis=1, keepdims=True))


def _scores(samples: list[Sample], told: list[NDArray[np.float32]]) -> dict[str, object]:
    pairs = zip(samples, told, strict=True)
    both = [(sample, likely) for sample, likely in pairs if sample.source == "wcxb"]
    right = Counter[str]()
    guessed = Counter[str]()
    for sample, likely in both:
        guess = KINDS[int(likely.argmax())]
        guessed[guess] += 1
        right[sample.kind] += guess == sample.kind
    held = Counter(sample.kind for sample, _ in both)
    f1 = {kind: round(2 * right[kind] / (held[kind] + guessed[kind]), 3) for kind in KINDS}
    return {
        "pages": len(both),
        "folds_by_host": FOLDS,
        "accuracy": round(right.total() / len(both), 3),
        "macro_f1": round(sum(f1.values()) / len(f1), 3),
        "f1": f1,
    }


if __name__ == "__main__":
    main()
