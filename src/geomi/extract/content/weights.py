"""Compute how likely each block of a page belongs to its main content.

Each block is described by numbers (`FEATURES`): its text, its places, its neighbours, the likely
kind of the page. No number depends on a language, a host or a URL. A row is worked out for all
blocks at once, because a page has hundreds of them. It is written where it stays, because copying
costs as much as counting. The numbers are compared with bounds, so they need no scale.

A place contributes the weight of its names and of those around it, and the elements or listed
names that it lies inside of. A block is inside a mark if more marks have begun before it than have
ended.

A forest turns the numbers into a probability. Each of its trees asks the same questions on each
level: five questions (row, bound) and 32 answers. The yes and no of a column are the bits of its
answer's number. So the whole forest takes a few array operations, whatever the number of blocks.
`tools/train_blocks.py` learned it from pages of all kinds and stored it in `blocks.json`, with its
scores on pages of hosts it never saw.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources

import numpy as np
import orjson
from numpy.typing import NDArray

from geomi.extract.content.blocks import CODES, TAGS, Blocks, weigh_words
from geomi.extract.content.kind import KINDS, Likely
from geomi.extract.content.prune import is_boilerplate
from geomi.extract.dom import HEADINGS

_MARKED = ("main", "aside", "figure", "ul", "ol")
MARKS = (*_MARKED, "furniture")
_NO_MARK = len(MARKS)
_MARK_OF = np.full(len(TAGS) + 1, _NO_MARK)  # by code; the last is of places without one
Floats = NDArray[np.float32]
# A block with more unlinked text than this is prose; captions, labels and items have less.
PROSE_CHARS = 80
# The places with more than this share of the prose lie one in the other.
DOMINANT_SHARE = 0.5
MAX_SINCE_H1 = 50
LEVELS = 4  # the place of a block, and those around it
STEPS = (-1, 1, -2, 2)  # to the neighbours that are looked at
_NEAR = ("chars", "linked", "path")
_TEXT = ("words", "word_chars", "ends", "copies")
_POSITION = ("before", "after", "since_h1", "depth", "heading_chars", "levels_up")
_OWN = ("div", "pre")
_PLACE = ("chars", "linked", "mean", "prose", "twins", "path")
_PAGE = ("chars", "linked", "blocks", "prose")
FEATURES = (
    *_NEAR, *_TEXT, *_POSITION,
    *(f"{name}_{steps:+d}" for steps in STEPS for name in _NEAR),
    *(f"place{level}_{name}" for level in range(LEVELS) for name in _PLACE),
    *(f"is_{tag}" for tag in _OWN), *(f"in_{mark}" for mark in MARKS),
    *(f"page_{name}" for name in _PAGE), *(f"kind_{kind}" for kind in KINDS),
)  # fmt: skip
_OWN_CODES = np.array([[CODES[tag]] for tag in _OWN])
_ENDS = frozenset(".!?:;…。！？")
DEPTH = 5
LEAVES = 1 << DEPTH


@dataclass(frozen=True, slots=True)
class _Model:
    words: Mapping[str, float]
    forest: Forest


def weigh(blocks: Blocks, kind: Likely) -> NDArray[np.float64]:
    """Return a probability for each block."""
    places = PlaceFeatures(read_paths(blocks, _weigh_names), read_marks(blocks))
    return predict(_model().forest, describe_blocks(blocks, places, kind))


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


for _mark, _tag in enumerate(_MARKED):
    _MARK_OF[CODES[_tag]] = _mark


@dataclass(frozen=True, slots=True)
class PlaceFeatures:
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
    named = {name for name in set(blocks.names) if is_boilerplate(name)}
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


def describe_blocks(blocks: Blocks, places: PlaceFeatures, kind: Likely) -> Floats:
    """Return one column of numbers for each block of a page that has some."""
    homes, chars, linked = blocks.homes, blocks.chars, blocks.linked
    table = np.zeros((len(FEATURES), len(chars)), np.float32)
    free = chars - linked
    sums = np.zeros((3, len(chars) + 1))
    np.cumsum((chars, linked, free * (free > PROSE_CHARS)), axis=1, out=sums[:, 1:])
    held = _held(blocks, sums, places.paths)
    near = table[: len(_NEAR)]
    near[0], near[1], near[2] = chars, linked / chars, places.paths[homes]
    at = len(_NEAR)
    at = _text(table, at, blocks.texts, chars)
    at = _position(table, at, blocks, sums, held[_PLACE.index("prose")])
    for steps in STEPS:
        if steps < 0:
            table[at : at + len(_NEAR), -steps:] = near[:, :steps]
        else:
            table[at : at + len(_NEAR), :-steps] = near[:, steps:]
        at += len(_NEAR)
    level = homes
    for _ in range(LEVELS):
        held.take(level, axis=1, out=table[at : at + len(_PLACE)], mode="clip")
        level = blocks.parents[level]
        at += len(_PLACE)
    table[at : at + len(_OWN)] = blocks.codes[homes] == _OWN_CODES
    at += len(_OWN)
    table[at : at + len(MARKS)] = places.marks > 0
    at += len(MARKS)
    table[at:] = np.concatenate((_page(sums), kind))[:, None]
    return table


def _text(table: Floats, at: int, texts: list[str], chars: Floats) -> int:
    counts = Counter(texts)
    words = np.array([text.count(" ") + 1 for text in texts], np.float32)
    table[at], table[at + 1] = words, chars / words
    table[at + 2] = [text[-1] in _ENDS for text in texts]
    table[at + 3] = [*map(counts.__getitem__, texts)]
    return at + len(_TEXT)


def _position(
    table: Floats, at: int, blocks: Blocks, sums: NDArray[np.float64], prose: Floats
) -> int:
    numbers = np.arange(table.shape[1])
    codes = blocks.codes[blocks.homes]
    is_heading = (codes >= 0) & (codes < len(HEADINGS))
    headings = np.flatnonzero(is_heading)
    read = sums[0] / sums[0, -1]
    table[at], table[at + 1] = read[:-1], 1 - read[1:]
    table[at + 3] = np.array(blocks.depths)[blocks.homes]
    first = 0
    if headings.size:
        first = int((codes == CODES["h1"]).argmax())
        above: NDArray[np.intp] = np.cumsum(is_heading) - is_heading  # how many are before each
        table[at + 4] = np.concatenate(([0], table[0, headings]))[above]
    np.clip(numbers - first, -MAX_SINCE_H1, MAX_SINCE_H1, out=table[at + 2], casting="unsafe")
    table[at + 5] = _levels_up(blocks, prose)
    return at + len(_POSITION)


def _held(blocks: Blocks, sums: NDArray[np.float64], paths: Floats) -> Floats:
    """Return what each place holds: differences of running sums over the row of blocks."""
    chars, linked, prose = sums[:, blocks.ends] - sums[:, blocks.starts]
    table = np.empty((len(_PLACE), len(paths)), np.float32)
    table[0], table[1] = chars, linked / np.maximum(chars, 1)
    table[2] = chars / np.maximum(blocks.ends - blocks.starts, 1)
    table[3], table[4], table[5] = prose / max(sums[2, -1], 1.0), blocks.twins, paths
    return table


def _levels_up(blocks: Blocks, prose: Floats) -> NDArray[np.intp]:
    """Return for each block how far above the place with most of the prose the two meet."""
    chain = np.flatnonzero(prose > DOMINANT_SHARE)
    edges = np.zeros(len(blocks.texts) + 1, np.intp)
    np.add.at(edges, blocks.starts[chain], 1)
    np.subtract.at(edges, blocks.ends[chain], 1)
    return np.asarray(len(chain) - np.cumsum(edges[:-1]))


def _page(sums: NDArray[np.float64]) -> Floats:
    chars, linked, prose = sums[:, -1]
    total = max(chars, 1.0)
    return np.array([chars, linked / total, sums.shape[1] - 1, prose / total], np.float32)


@dataclass(frozen=True, slots=True)
class Forest:
    """A sum of trees: the row and the bound of each question, and the answers of each tree."""

    start: float
    rows: NDArray[np.intp]  # level by level, one of each tree
    bounds: NDArray[np.float32]  # likewise
    answers: NDArray[np.float32]  # tree by tree


def predict(forest: Forest, table: NDArray[np.float32]) -> NDArray[np.float64]:
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
