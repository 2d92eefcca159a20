"""How likely each block of a page belongs to its main content.

A forest over the numbers of `features` and the likely kinds of the page, learned from pages of all
kinds by `tools/train_blocks.py` and stored in `blocks.json` with its scores on pages of hosts it
never saw.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources

import numpy as np
import orjson
from numpy.typing import NDArray

from geomi.extract.blocks import Blocks
from geomi.extract.features import describe
from geomi.extract.forest import Forest, ask
from geomi.extract.kind import Likely
from geomi.extract.names import weigh_words
from geomi.extract.places import Places, read_marks, read_paths


@dataclass(frozen=True, slots=True)
class _Model:
    words: Mapping[str, float]
    forest: Forest


def weigh(blocks: Blocks, kind: Likely) -> NDArray[np.float64]:
    """Return a probability for each block."""
    places = Places(read_paths(blocks, _weigh_names), read_marks(blocks))
    return ask(_model().forest, describe(blocks, places, kind))


@lru_cache(maxsize=16_384)  # the pages of a site repeat their names
def _weigh_names(names: str) -> float:
    return weigh_words(names, _model().words)


@cache
def _model() -> _Model:
    stored = orjson.loads(resources.files(__package__).joinpath("blocks.json").read_bytes())
    questions = np.array([tree["questions"] for tree in stored["trees"]], np.float64)
    forest = Forest(
        start=stored["start"],
        rows=questions[:, :, 0].T.astype(np.intp).ravel(),
        bounds=questions[:, :, 1].T.astype(np.float32).ravel(),
        answers=np.array([tree["answers"] for tree in stored["trees"]], np.float32).ravel(),
    )
    return _Model(stored["words"], forest)
