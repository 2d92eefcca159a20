"""What the places of a page say about the blocks in them.

A place says what its names weigh, together with those of every place around it, and which elements
it is inside of, or that its names are in the lists of `prune`. The latter is read block by block: a
block is in a list if more lists have begun before it than have ended.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from geomi.extract.blocks import CODES, TAGS, Blocks
from geomi.extract.prune import is_furniture

_MARKED = ("main", "aside", "figure", "ul", "ol")
MARKS = (*_MARKED, "furniture")
_NO_MARK = len(MARKS)
_MARK_OF = np.full(len(TAGS) + 1, _NO_MARK)  # by code; the last is of places without one
for _mark, _tag in enumerate(_MARKED):
    _MARK_OF[CODES[_tag]] = _mark


@dataclass(frozen=True, slots=True)
class Places:
    """Of each place what its names and those around it weigh; of each block what it is inside of.

    Args:
        marks: one row for each of `MARKS`, not 0 in the columns of blocks that are inside.
    """

    paths: NDArray[np.float32]
    marks: NDArray[np.intp]


def read_marks(blocks: Blocks) -> NDArray[np.intp]:
    """Return which blocks are inside of what."""
    mark = _MARK_OF[blocks.codes]
    # A list or a `main` by such a name is hardly one.
    named = {name for name in set(blocks.names) if is_furniture(name)}
    mark[[name in named for name in blocks.names]] = MARKS.index("furniture")
    marked = np.flatnonzero(mark < _NO_MARK)
    width = len(blocks.texts) + 1
    size = width * len(MARKS)
    row = mark[marked] * width
    edges = np.bincount(row + blocks.starts[marked], minlength=size)
    edges -= np.bincount(row + blocks.ends[marked], minlength=size)
    return np.cumsum(edges.reshape(len(MARKS), width)[:, :-1], axis=1)


def read_paths(blocks: Blocks, weigh: Callable[[str], float]) -> NDArray[np.float32]:
    """Return what the names of each place and of all around it weigh together."""
    paths: list[float] = []
    weights = {name: weigh(name) for name in set(blocks.names)}  # a page repeats its names
    own = map(weights.__getitem__, blocks.names)
    for weight, parent in zip(own, blocks.parents.tolist(), strict=True):
        paths.append(weight + paths[parent] if paths else weight)
    return np.array(paths, np.float32)
