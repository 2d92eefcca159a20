"""Trees that ask the same questions on each level, and how they are read.

Such a tree of depth five is five questions (row, bound) and 32 answers: the yes and no of a column
are the bits of the number of its answer. So a whole forest is asked with a few array operations,
whatever the number of columns.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

DEPTH = 5
LEAVES = 1 << DEPTH


@dataclass(frozen=True, slots=True)
class Forest:
    """A sum of trees: the row and the bound of each question, and the answers of each tree."""

    start: float
    rows: NDArray[np.intp]  # level by level, one of each tree
    bounds: NDArray[np.float32]  # likewise
    answers: NDArray[np.float32]  # tree by tree


def ask(forest: Forest, table: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return for each column of a table how likely it is, between 0 and 1."""
    is_above = table.take(forest.rows, axis=0) > forest.bounds[:, None]
    trees = len(forest.answers) // LEAVES
    bits = is_above.view(np.uint8).reshape(DEPTH, trees, table.shape[1])
    leaf = bits[0].copy()
    for level in range(1, DEPTH):
        leaf |= bits[level] << level
    first = np.arange(0, len(forest.answers), LEAVES)
    total = forest.answers.take(leaf + first[:, None]).sum(axis=0, dtype=np.float64)
    return np.asarray(1 / (1 + np.exp(-total - forest.start)))
