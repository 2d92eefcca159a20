"""What every embedder does alike: prefixes, batches, vectors of length 1."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from geomi.errors import ModelError
from geomi.ports.models import BATCH, Vectors

T = TypeVar("T")

# Shorter ones have no direction.
LEAST_LENGTH = 1e-12


@dataclass(frozen=True, slots=True)
class Prefixes:
    """What a model wants to read in front of a query and of a passage, such as `query: `."""

    query: str = ""
    passage: str = ""

    def before(self, texts: Sequence[str], *, is_query: bool) -> list[str]:
        """Return texts as the model wants them."""
        prefix = self.query if is_query else self.passage
        return [prefix + text for text in texts]


NO_PREFIXES = Prefixes()


def in_batches(items: Sequence[T]) -> Iterator[Sequence[T]]:
    """Yield as many at once as a model is given."""
    for start in range(0, len(items), BATCH):
        yield items[start : start + BATCH]


def unit(vectors: NDArray[Any]) -> Vectors:
    """Return vectors with a length of 1; one without a direction stays nothing."""
    if not np.isfinite(vectors).all():
        raise ModelError("a model answered with a vector that has a value other than a number")
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: Vectors = (vectors / np.maximum(lengths, LEAST_LENGTH)).astype(np.float32)
    return scaled


def read_vectors(rows: Sequence[object], *, dimensions: int, source: str) -> Vectors:
    """Read what a server gave as vectors; `dimensions` is 0 where their length is to be learnt."""
    try:
        vectors = np.array(rows, np.float64)
    except (TypeError, ValueError) as error:
        raise ModelError(f"{source} answered with something other than vectors") from error
    if vectors.ndim != 2 or not vectors.size or dimensions not in (0, vectors.shape[1]):
        raise ModelError(
            f"{source} answered with vectors of shape {vectors.shape}, not of {dimensions or 'any'}"
            " numbers each"
        )
    return unit(vectors)
