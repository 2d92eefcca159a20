"""Find the page kind from the layout: an article, a forum, a product, … (`KINDS`).

A linear model over cheap facts of the blocks (how much text, how many links, which elements), the
words by which its elements are named, and the types it claims for itself (OpenGraph, schema.org).
The model does not use the URL or any word that a reader sees. `tools/train_kind.py` learned the
weights in `kind.json`, and wrote their scores on pages of unseen hosts beside them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import islice

import numpy as np
import orjson
from numpy.typing import NDArray

from geomi.extract.content.blocks import CODES, TAGS, Blocks, words_of
from geomi.extract.dom import Document

KINDS = ("article", "collection", "documentation", "forum", "listing", "product", "service")
ARTICLE, COLLECTION, DOCUMENTATION, FORUM, LISTING, PRODUCT, SERVICE = KINDS
MAX_CLAIMS = 50  # scripts that are asked for a type, and types of one of them
MAX_JSON_LD_CHARS = 256 * 1024

_TYPE = re.compile(r'"@type"\s{0,9}:\s{0,9}\[?\s{0,9}"([A-Za-z]{2,40})"')
_MONEY = "€$£¥₩"
PROSE_CHARS = 80
LONG_CHARS = 200
SHORT_CHARS = 20
_SHARED_TAGS = ("p", "li", "td", "div", "h2", "h3", "dd", "pre")
_COUNTED_TAGS = (
    "p", "li", "h1", "h2", "h3", "article", "section", "table", "pre", "form", "dl", "figure",
    "blockquote", "ol", "ul", "aside",
)  # fmt: skip
_SHARES = [CODES[tag] for tag in _SHARED_TAGS]
_COUNTS = [CODES[tag] for tag in _COUNTED_TAGS]
FACTS = (
    "chars", "blocks", "mean", "prices", "twins", "longest",
    *(f"count_{tag}" for tag in _COUNTED_TAGS),
    "share_linked", "share_prose", "share_longest", *(f"share_{tag}" for tag in _SHARED_TAGS),
    "often_price", "often_question", "often_long", "often_short",
)  # fmt: skip

Likely = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class _Model:
    words: Mapping[str, int]  # the row of each
    weights: NDArray[np.float32]  # facts, then words, then one row that is always added
    means: NDArray[np.float32]
    scales: NDArray[np.float32]


def claimed_types(document: Document) -> frozenset[str]:
    """Return the types that a page claims for itself; its scripts must still be there."""
    found = {f"og:{_short(e.attr('content'))}" for e in document.select('meta[property="og:type"]')}
    for script in document.select('script[type="application/ld+json"]')[:MAX_CLAIMS]:
        named = _TYPE.finditer(script.text[:MAX_JSON_LD_CHARS])
        found.update(f"ld:{match[1].lower()}" for match in islice(named, MAX_CLAIMS))
    return frozenset(found)


def tell_kind(blocks: Blocks, claimed: frozenset[str]) -> Likely:
    """Return how likely each of `KINDS` is; together they are 1."""
    model = _model()
    rows = [model.words[word] for word in page_words(blocks, claimed) & model.words.keys()]
    told = (facts(blocks) - model.means) / model.scales
    weights = model.weights
    total = told @ weights[: len(FACTS)] + weights[len(FACTS) : -1][rows].sum(axis=0) + weights[-1]
    likely = np.exp(total - total.max())
    return np.asarray(likely / likely.sum(), np.float32)


def page_words(blocks: Blocks, claimed: frozenset[str]) -> set[str]:
    """Return every word that names an element of the page, and what the page claims to be."""
    return set(claimed).union(*map(words_of, set(blocks.names)))


def facts(blocks: Blocks) -> NDArray[np.float32]:
    """Return what is counted, in the order of `FACTS`."""
    chars, free = blocks.chars, blocks.chars - blocks.linked
    total, count = max(float(chars.sum()), 1.0), max(len(chars), 1)
    tags = np.bincount(blocks.codes + 1, minlength=len(TAGS) + 1)[1:]
    held = np.bincount(blocks.codes[blocks.homes] + 1, chars, len(TAGS) + 1)[1:]
    longest = np.sort(chars)
    text = " ".join(blocks.texts)
    prices = sum(map(text.count, _MONEY))
    sizes = (total, count, total / count, prices, max(blocks.twins), longest[-3:].sum() / 3)
    shares = (blocks.linked.sum(), free[free > PROSE_CHARS].sum(), longest[-5:].sum())
    short, middle = longest.searchsorted((SHORT_CHARS, LONG_CHARS)).tolist()
    counts = (prices, text.count("?"), count - middle, short)
    told = np.concatenate((sizes, tags[_COUNTS], shares, held[_SHARES], counts))
    sized, shared = len(sizes) + len(_COUNTS), len(shares) + len(_SHARES)
    told[:sized] = np.log2(1 + told[:sized])
    told[sized : sized + shared] /= total
    told[sized + shared :] /= count
    return told.astype(np.float32)


@cache
def _model() -> _Model:
    stored = orjson.loads(resources.files(__package__).joinpath("kind.json").read_bytes())
    rows = [stored["facts"][name] for name in FACTS]
    weights = [row["weights"] for row in rows] + list(stored["words"].values()) + [stored["always"]]
    return _Model(
        words={word: row for row, word in enumerate(stored["words"])},
        weights=np.array(weights, np.float32),
        means=np.array([row["mean"] for row in rows], np.float32),
        scales=np.array([row["scale"] for row in rows], np.float32),
    )


def _short(value: str | None) -> str:
    return (value or "").strip().lower()[:100]
