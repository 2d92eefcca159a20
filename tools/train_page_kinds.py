"""Learn what tells the kind of a page once it was read, and write `src/geomi/analyse/kinds.json`.

A linear model (softmax) over facts, layout and words, drawn towards 0. Each page is learned three
times: as it is, without the words of its text, and without its layout, so that neither is trusted
alone. What its layout says comes from models that did not see its domain (`tools.train_kind`). All
words take part that stand on enough pages; the `WORDS` that decide most are kept and learned again.

The scores beside the weights are those of pages whose registrable domains took no part: neither in
the weights, nor in the choice of words, nor in what is said of layouts. Only the weights by which
extraction keeps or drops a block have seen all pages. `kinds` are the scores of the model on the
seven kinds that pages are labelled with; `types` those of `classify`, with its rules, on the page
types that the labels are mapped to. Pages that a rule calls faq, policy or contact count as wrong
there, because there is no such label.

Run: `python -m tools.train_page_kinds`, with the corpus in place; needs numpy alone.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from pathlib import Path
from unittest.mock import patch

import numpy as np
import orjson
from numpy.typing import NDArray

import geomi.analyse
from geomi.analyse.classify import RULES, TYPES, judge
from geomi.analyse.kinds import FACTS, LEAST_LIKELY, SCALE, layout_of, read_facts, read_words
from geomi.analyse.page_text import PageText, read_text
from geomi.extract.content.kind import KINDS, Likely
from geomi.extract.content.strategy import KIND_DIGITS
from geomi.extract.page import extract
from geomi.model.config import Extraction
from geomi.model.index.analysis import AnalysisRules
from geomi.model.page import Article
from geomi.text.identifiers import sha256_hex
from geomi.url.host import registrable_domain
from tools.train_kind import kinds_by_strangers
from tools.training_set import FOLDS, Sample, read_rows, read_samples

WORDS = 4000
# A word of a text must stand on more pages than one of a URL: there are far more of them.
MIN_PAGES = {"x": 8, "a": 8, "k": 6, "o": 5, "d": 4, "t": 4, "c": 4}
OTHER_MIN_PAGES = 3
# Places whose words are not of a language, so that they hold on a page in any.
ANY_LANGUAGE = "hplquck"
# How much a page of each set counts: all documentation of the one set comes from five manuals.
COUNTS = {"wcxb": 1.0, "docs": 0.1}
PENALTY = 0.0035
HIDDEN = 0.3  # how much a page counts whose words, or whose layout, are hidden
STEPS = 300
RATE = 0.05
BANDS = (0.0, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.01)

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Page:
    """One page as the model sees it; `layout` is empty where its blocks were not weighed."""

    sample: Sample
    url: str
    article: Article
    reading: PageText
    facts: Floats
    layout: Floats
    words: frozenset[str]


@dataclass(frozen=True, slots=True)
class Model:
    """Weights for facts and layout (scaled), for words, and what is always added (last row)."""

    words: list[str]
    weights: Floats
    means: Floats
    scales: Floats

    def tell(self, pages: Sequence[Page]) -> Floats:
        """Return how likely each kind is, for each page."""
        table = np.hstack((_numbers(pages, self.means, self.scales), _marks(pages, self.words)))
        return _softmax(table @ self.weights[:-1] + self.weights[-1])


def main() -> None:
    """Learn from all pages and write the weights with their cross-validated scores."""
    samples = {sample.name: sample for sample in _by_domain(read_samples(COUNTS))}
    kinds = kinds_by_strangers(list(samples.values()))
    pages = list(_read_pages(samples, dict(zip(samples, kinds, strict=True))))
    told = np.zeros((len(pages), len(KINDS)), np.float32)
    for fold in range(FOLDS):
        outside = [n for n, page in enumerate(pages) if page.sample.fold == fold]
        inside = [page for page in pages if page.sample.fold != fold]
        inner = kinds_by_strangers([page.sample for page in inside])
        model = _learn(_with_layout(inside, inner))
        told[outside] = model.tell([pages[number] for number in outside])
    scored = [number for number, page in enumerate(pages) if page.sample.source == "wcxb"]
    scores = _scores([pages[number] for number in scored], told[scored])
    print(scores)
    _write(_learn(pages), scores)


def _by_domain(samples: Sequence[Sample]) -> Iterator[Sample]:
    """Put the pages of one registrable domain into one fold; those of a manual are in one."""
    domains = {str(row["id"]): str(row["domain"] or row["id"]) for row in read_rows("wcxb")}
    for sample in samples:
        if (host := domains.get(sample.name)) is None:
            yield sample
        else:
            yield replace(sample, fold=zlib.crc32(registrable_domain(host).encode()) % FOLDS)


def _read_pages(samples: Mapping[str, Sample], kinds: Mapping[str, Likely]) -> Iterator[Page]:
    """Read pages as the crawler would, had its model of layouts never seen their domains."""
    for row in chain.from_iterable(map(read_rows, COUNTS)):
        if (sample := samples.get(str(row["id"]))) is None:
            continue
        url, html = str(row["url"]), str(row["html"]).encode("utf-8", "replace")
        with patch.object(
            geomi.extract.content.strategy, "tell_kind", return_value=kinds[sample.name]
        ):
            article = extract(html, url, "text/html; charset=utf-8", Extraction(template=False))
        reading = read_text(article.markdown, AnalysisRules().max_chars)
        yield Page(
            sample=sample,
            url=url,
            article=article,
            reading=reading,
            facts=read_facts(url, article, reading),
            layout=layout_of(article, KINDS) if article.kinds else np.empty(0, np.float32),
            words=frozenset(read_words(url, article, reading)),
        )


def _with_layout(pages: Sequence[Page], kinds: Sequence[Likely]) -> list[Page]:
    """Put what another model says of the layouts in place of what was said."""
    logs = [np.log(np.maximum(likely.round(KIND_DIGITS), LEAST_LIKELY)) for likely in kinds]
    pairs = zip(pages, logs, strict=True)
    return [replace(page, layout=log) if len(page.layout) else page for page, log in pairs]


def _learn(pages: Sequence[Page]) -> Model:
    facts = np.array([page.facts for page in pages])
    layouts = np.array([page.layout for page in pages if len(page.layout)])
    means = np.concatenate((facts.mean(axis=0), layouts.mean(axis=0)))
    scales = np.concatenate((facts.std(axis=0), layouts.std(axis=0))) + np.float32(1e-6)
    numbers = _numbers(pages, means, scales)
    vocabulary = _vocabulary(pages)
    marks = _marks(pages, vocabulary)
    weights = _fit(numbers, marks, vocabulary, pages)[numbers.shape[1] : -1]
    share = marks.mean(axis=0)
    strength = np.abs(weights).max(axis=1) * np.sqrt(share * (1 - share))
    best = sorted(np.argsort(-strength, kind="stable")[:WORDS].tolist())
    words = [vocabulary[column] for column in best]
    weights = _fit(numbers, marks[:, best], words, pages)
    return Model(words, np.round(weights * SCALE) / np.float32(SCALE), means, scales)


def _vocabulary(pages: Sequence[Page]) -> list[str]:
    count = Counter(word for page in pages for word in page.words)
    return sorted(w for w, n in count.items() if n >= MIN_PAGES.get(w[0], OTHER_MIN_PAGES))


def _numbers(pages: Sequence[Page], means: Floats, scales: Floats) -> Floats:
    unknown = means[len(FACTS) :]
    rows = [np.concatenate((p.facts, p.layout if len(p.layout) else unknown)) for p in pages]
    return np.asarray((np.array(rows) - means) / scales, np.float32)


def _marks(pages: Sequence[Page], words: list[str]) -> Floats:
    columns = {word: column for column, word in enumerate(words)}
    table = np.zeros((len(pages), len(words)), np.float32)
    for row, page in enumerate(pages):
        table[row, [columns[word] for word in page.words if word in columns]] = 1.0
    return table


def _fit(numbers: Floats, marks: Floats, words: list[str], pages: Sequence[Page]) -> Floats:
    """Climb the likelihood with Adam over the three forms of each page."""
    wanted = np.eye(len(KINDS), dtype=np.float32)[[KINDS.index(p.sample.kind) for p in pages]]
    # Rare kinds count more, by the square root of how rare they are.
    rare = wanted @ (1 / np.sqrt(wanted.mean(axis=0)))
    counts = (rare * np.array([COUNTS[p.sample.source] for p in pages], np.float32))[:, None]
    table = np.hstack((numbers, marks, np.ones((len(pages), 1), np.float32)))
    first, end = len(FACTS), numbers.shape[1]
    of_text = end + np.array([n for n, word in enumerate(words) if word[0] not in ANY_LANGUAGE])
    of_layout = np.arange(first, end)
    spoken, laid_out = table[:, of_text].copy(), table[:, of_layout].copy()
    total = counts.sum() * (1 + 2 * HIDDEN)

    def slope(weights: Floats) -> Floats:
        whole = table @ weights
        said, layout = spoken @ weights[of_text], laid_out @ weights[of_layout]
        missed = [
            counts * (wanted - _softmax(whole)),
            HIDDEN * counts * (wanted - _softmax(whole - said)),
            HIDDEN * counts * (wanted - _softmax(whole - layout)),
        ]
        found = table.T @ (missed[0] + missed[1] + missed[2])
        found[of_text] -= spoken.T @ missed[1]
        found[of_layout] -= laid_out.T @ missed[2]
        found /= total
        found[:-1] -= PENALTY * weights[:-1]
        return np.asarray(found, np.float32)

    weights = np.zeros((table.shape[1], len(KINDS)), np.float32)
    mean, square = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, STEPS + 1):
        change = slope(weights)
        mean = np.float32(0.9) * mean + np.float32(0.1) * change
        square = np.float32(0.99) * square + np.float32(0.01) * change**2
        pace = np.float32(RATE * min(1.0, 2 * (1 - step / STEPS) + 0.02))
        weights += pace * mean / (1 - 0.9**step) / (np.sqrt(square / (1 - 0.99**step)) + 1e-8)
    return weights


def _softmax(total: Floats) -> Floats:
    likely = np.exp(total - total.max(axis=1, keepdims=True))
    return np.asarray(likely / likely.sum(axis=1, keepdims=True), np.float32)


def _scores(pages: Sequence[Page], told: Floats) -> dict[str, object]:
    kinds = [KINDS[number] for number in told.argmax(axis=1)]
    labels = [page.sample.kind for page in pages]
    judged = [
        judge(dict(zip(KINDS, likely.tolist(), strict=True)), page.url, page.article, page.reading)
        for page, likely in zip(pages, told, strict=True)
    ]
    types = [TYPES[label] for label in labels]
    ruled = [n for n, found in enumerate(judged) if found.engine == RULES]
    return {
        "pages": len(pages),
        "folds_by_domain": FOLDS,
        "kinds": _agreement(labels, kinds) | {"likely": _bands(labels, kinds, told.max(axis=1))},
        "types": _agreement(types, [found.page_type for found in judged]),
        "by_rules": {
            "pages": len(ruled),
            "right": sum(judged[n].page_type is types[n] for n in ruled),
        },
    }


def _agreement(labels: Sequence[str], guesses: Sequence[str]) -> dict[str, object]:
    """Return accuracy and F1 of every label that there is."""
    right = Counter(label for label, guess in zip(labels, guesses, strict=True) if label == guess)
    both = Counter(labels) + Counter(guesses)
    f1 = {str(name): round(2 * right[name] / both[name], 3) for name in sorted(set(labels))}
    return {
        "accuracy": round(right.total() / len(labels), 3),
        "macro_f1": round(sum(f1.values()) / len(f1), 3),
        "f1": f1,
    }


def _bands(labels: Sequence[str], guesses: Sequence[str], sure: Floats) -> list[dict[str, float]]:
    """Return how often the model is right where it is so sure."""
    right = np.array([label == guess for label, guess in zip(labels, guesses, strict=True)])
    bands = [(low, (sure >= low) & (sure < high)) for low, high in pairwise(BANDS)]
    return [
        {
            "from": low,
            "share": round(float(band.mean()), 3),
            "right": round(float(right[band].mean()), 3),
        }
        for low, band in bands
        if band.any()
    ]


def _write(model: Model, scores: dict[str, object]) -> None:
    rows = (model.weights * SCALE).round().astype(int).tolist()
    named = [*FACTS, *KINDS]
    numbers = [
        {"mean": round(float(mean), 4), "scale": round(float(scale), 4), "weights": row}
        for mean, scale, row in zip(model.means, model.scales, rows, strict=False)
    ]
    learned = dict(zip(model.words, rows[len(named) : -1], strict=True))
    stored = {
        "version": sha256_hex(orjson.dumps([numbers, learned, rows[-1]]))[:12],
        "scores": scores,
        "kinds": KINDS,
        "always": rows[-1],
        "facts": dict(zip(FACTS, numbers, strict=False)),
        "layout": dict(zip(KINDS, numbers[len(FACTS) :], strict=True)),
        "words": {word: row for word, row in learned.items() if any(row)},
    }
    target = Path(geomi.analyse.__file__).parent / "kinds.json"
    target.write_bytes(orjson.dumps(stored) + b"\n")


if __name__ == "__main__":
    main()
