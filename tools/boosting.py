"""Fit a forest of trees that ask one question a level (`geomi.extract.content.weights`).

Gradient boosting of the logistic loss on values that are sorted into `BINS`: at each level the one
question is taken that helps all branches together most. With so few questions a tree hardly learns
a page by heart.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from geomi.extract.content.weights import DEPTH, Forest

BINS = 32
TREES = 80
RATE = 0.15
# An answer is drawn towards 0 as if so many blocks of mean weight had said nothing.
INERTIA = 20.0
ROW_SHARE = 0.35
COLUMN_SHARE = 0.5
SEED = 0

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Binned:
    edges: list[Floats]
    bins: list[NDArray[np.uint8]]  # one array a column


def fit(table: Floats, right: Floats, weight: Floats, trees: int = TREES) -> Forest:
    """Fit a forest that tells how likely a row is right."""
    rng = np.random.default_rng(SEED)
    binned = _sort_into_bins(table)
    weight = weight / weight.mean()
    start = float(np.log((weight * right).sum() / (weight * (1 - right)).sum()))
    told = np.full(len(right), start, np.float32)
    questions: list[tuple[int, float]] = []
    answers: list[Floats] = []
    for _ in range(trees):
        rows = np.flatnonzero(rng.random(len(right)) < ROW_SHARE)
        columns = np.flatnonzero(rng.random(table.shape[1]) < COLUMN_SHARE)
        likely = 1 / (1 + np.exp(-told[rows].astype(np.float64)))
        pull = weight[rows].astype(np.float64) * (right[rows] - likely)
        mass = weight[rows].astype(np.float64) * np.maximum(likely * (1 - likely), 1e-3)
        tree, leaves = _grow(binned, rows, columns, pull, mass)
        answer = _answers(leaves, pull, mass)
        told += answer[_leaves(table, tree)]
        questions += tree
        answers.append(answer)
    return Forest(
        start=start,
        rows=np.array([c for c, _ in questions], np.intp).reshape(-1, DEPTH).T.ravel(),
        bounds=np.array([b for _, b in questions], np.float32).reshape(-1, DEPTH).T.ravel(),
        answers=np.concatenate(answers),
    )


def _sort_into_bins(table: Floats) -> _Binned:
    steps = np.linspace(0, 1, BINS + 1)[1:-1]
    edges = [np.unique(np.quantile(column, steps).astype(np.float32)) for column in table[::7].T]
    pairs = zip(edges, table.T, strict=True)
    return _Binned(edges, [np.searchsorted(edge, c).astype(np.uint8) for edge, c in pairs])


def _grow(
    binned: _Binned,
    rows: NDArray[np.intp],
    columns: NDArray[np.intp],
    pull: Doubles,
    mass: Doubles,
) -> tuple[list[tuple[int, float]], NDArray[np.int64]]:
    values = {int(column): binned.bins[column][rows] for column in columns}
    leaves = np.zeros(len(rows), np.int64)
    tree: list[tuple[int, float]] = []
    for level in range(DEPTH):
        gains = (
            (*_best_edge(leaves, 1 << level, bins, pull, mass, len(binned.edges[c])), c)
            for c, bins in values.items()
            if len(binned.edges[c])
        )
        _, edge, column = max(gains)
        tree.append((column, float(binned.edges[column][edge])))
        leaves += (values[column] > edge).astype(np.int64) << level
    return tree, leaves


def _best_edge(
    leaves: NDArray[np.int64],
    count: int,
    bins: NDArray[np.uint8],
    pull: Doubles,
    mass: Doubles,
    edges: int,
) -> tuple[float, int]:
    """Return the gain of the best edge of one column over all leaves, and the edge."""
    cell = leaves * BINS + bins
    size = count * BINS
    pulls = np.cumsum(np.bincount(cell, pull, size).reshape(count, BINS), axis=1)
    masses = np.cumsum(np.bincount(cell, mass, size).reshape(count, BINS), axis=1)
    whole, weight = pulls[:, -1:], masses[:, -1:]
    gain = pulls**2 / (masses + INERTIA) + (whole - pulls) ** 2 / (weight - masses + INERTIA)
    gains = (gain - whole**2 / (weight + INERTIA)).sum(axis=0)[:edges]
    return float(gains.max()), int(gains.argmax())


def _answers(leaves: NDArray[np.int64], pull: Doubles, mass: Doubles) -> Floats:
    count = 1 << DEPTH
    pulls, masses = np.bincount(leaves, pull, count), np.bincount(leaves, mass, count)
    return (RATE * pulls / (masses + INERTIA)).astype(np.float32)


def _leaves(table: Floats, tree: list[tuple[int, float]]) -> NDArray[np.int64]:
    leaves = np.zeros(len(table), np.int64)
    for level, (column, bound) in enumerate(tree):
        leaves |= (table[:, column] > np.float32(bound)).astype(np.int64) << level
    return leaves
