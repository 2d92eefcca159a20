"""What can be said of each block of a page in numbers: its text, its places, its neighbours.

Nothing here knows a language, a host or a URL. Each row is one of `NAMES`, each column is one
block: a row is worked out for all blocks at once, because a page has hundreds of them, and is
written where it stays, because copying costs as much as counting. What is compared with bounds
needs no scale: sizes stay as they are.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from geomi.extract.blocks import CODES, Blocks
from geomi.extract.dom import HEADINGS
from geomi.extract.kind import KINDS, Likely
from geomi.extract.places import MARKS, Places

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
NAMES = (
    *_NEAR, *_TEXT, *_POSITION,
    *(f"{name}_{steps:+d}" for steps in STEPS for name in _NEAR),
    *(f"place{level}_{name}" for level in range(LEVELS) for name in _PLACE),
    *(f"is_{tag}" for tag in _OWN), *(f"in_{mark}" for mark in MARKS),
    *(f"page_{name}" for name in _PAGE), *(f"kind_{kind}" for kind in KINDS),
)  # fmt: skip
_OWN_CODES = np.array([[CODES[tag]] for tag in _OWN])
_ENDS = frozenset(".!?:;…。！？")


def describe(blocks: Blocks, places: Places, kind: Likely) -> Floats:
    """Return one column of numbers for each block of a page that has some."""
    homes, chars, linked = blocks.homes, blocks.chars, blocks.linked
    table = np.zeros((len(NAMES), len(chars)), np.float32)
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
