"""Which of seven kinds a page is: article, forum, product, … by its layout, its words and its URL.

A linear model over the facts and words of `features.py` and over what the layout alone says
(`Article.kinds`, where the page's blocks were weighed). It learned from pages whose text, and whose
layout, was hidden as well, so that a page in a language it has never read, or one whose content was
found by a selector, is told by the rest. `tools/train_page_kinds.py` wrote the weights in
`kinds.json`, and beside them how well they do on domains they never saw.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np
import orjson
from numpy.typing import NDArray

from geomi.analyse.features import FACTS, Facts, read_facts, read_words
from geomi.analyse.reading import Reading
from geomi.model.page import Article

# Below one in a thousand a layout says no more than "hardly".
LEAST_LIKELY = 1e-3
# Weights are stored as whole hundredths.
SCALE = 100


@dataclass(frozen=True, slots=True)
class _Model:
    kinds: tuple[str, ...]
    words: Mapping[str, int]  # the row of each
    weights: NDArray[np.float32]  # facts, then layout, then words, then one row always added
    means: NDArray[np.float32]  # of facts and layout
    scales: NDArray[np.float32]
    version: str


def tell_kinds(url: str, article: Article, reading: Reading) -> dict[str, float]:
    """Return how likely each kind is; together they are 1."""
    model = _model()
    told = np.concatenate((read_facts(url, article, reading), layout_of(article, model.kinds)))
    scaled = (told - model.means) / model.scales
    if not article.kinds:
        scaled[len(FACTS) :] = 0.0  # the mean: it says nothing
    found = read_words(url, article, reading)
    # In order, so that the sum is always the same.
    rows = sorted(row for word in found if (row := model.words.get(word)) is not None)
    numbers = len(scaled)
    weights = model.weights
    total = scaled @ weights[:numbers] + weights[numbers:-1][rows].sum(axis=0) + weights[-1]
    likely = np.exp(total - total.max())
    return dict(zip(model.kinds, (likely / likely.sum()).tolist(), strict=True))


def layout_of(article: Article, kinds: tuple[str, ...]) -> Facts:
    """Return what the layout says of each kind, as logarithms."""
    said = dict(article.kinds)
    return np.log([max(said.get(kind, 0.0), LEAST_LIKELY) for kind in kinds]).astype(np.float32)


def version() -> str:
    """Return the digest of the weights: what they say changes with them."""
    return _model().version


@cache
def _model() -> _Model:
    stored = orjson.loads(resources.files(__package__).joinpath("kinds.json").read_bytes())
    kinds = tuple(stored["kinds"])
    rows = [stored["facts"][name] for name in FACTS] + [stored["layout"][kind] for kind in kinds]
    weights = [row["weights"] for row in rows] + [*stored["words"].values(), stored["always"]]
    return _Model(
        kinds=kinds,
        words={word: row for row, word in enumerate(stored["words"])},
        weights=(np.array(weights, np.float32) / SCALE).astype(np.float32),
        means=np.array([row["mean"] for row in rows], np.float32),
        scales=np.array([row["scale"] for row in rows], np.float32),
        version=stored["version"],
    )
