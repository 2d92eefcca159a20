"""Select the blocks of a page that stay, and remove the others from the tree.

The selection has the best expected word F1, given the probability of each block: the most probable
blocks, down to the point where the next costs more than it brings. So the threshold differs by
page: it is low where nothing is certain (a page of offers), and high for prose. Then the selection
is completed. A list or table that mostly stays, stays whole. Text that stays keeps the headings
above it and the code and tables in it. Small gaps are filled.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from geomi.extract.content.blocks import CODES, TAGS, Blocks
from geomi.extract.content.kind import ARTICLE, DOCUMENTATION, FORUM, KINDS, PRODUCT, Likely
from geomi.extract.dom import HEADINGS

# A doubt counts more on these kinds: what stands around their text is as long as the text itself
# (comments, signatures, other offers). Cross-validated: 1.0 to 1.7 differ by less than .003 in word
# F1 on WCXB; beyond it falls.
_DOUBT = {ARTICLE: 1.3, DOCUMENTATION: 1.2, FORUM: 1.2, PRODUCT: 1.2}
# A group with at least this share of its text in the selection is taken whole.
WHOLE_SHARE = 0.5
# A hole between two neighbours that stay is filled if it is no longer than a short paragraph and
# hardly linked. That changes no score, but a reader of a manual misses every line of it.
MAX_HOLE_CHARS = 300
MAX_HOLE_LINKED = 0.3
# Code or a table stays with the text around it unless it is this unlikely, as menus are.
MIN_EXHIBIT_LIKELY = 0.3
MAX_MAIN_ELEMENTS = 20
MAX_WRAPPERS = 4  # elements around a heading or table alone, before those that hold its section
_IS_GROUP = np.array([tag in ("ul", "ol", "dl", "table", "pre") for tag in (*TAGS, "")])
_CODE, _TABLE = CODES["pre"], CODES["table"]

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Selection:
    """Which blocks stay, and the word F1 that is expected of them (0 to 1)."""

    kept: Mask
    expected: float


def select_blocks(blocks: Blocks, likely: NDArray[np.float64], kind: Likely) -> Selection:
    """Choose among the blocks of a page that has some."""
    doubt = _DOUBT.get(KINDS[int(kind.argmax())], 1.0)
    chars = blocks.chars.astype(np.float64)
    selection = _best(likely**doubt, chars)
    kept = selection.kept
    _complete_groups(blocks, kept, chars)
    _restore_exhibits(blocks, kept, likely)
    _fill_holes(blocks, kept)
    _restore_headings(blocks, kept)
    if KINDS[int(kind.argmax())] == DOCUMENTATION:
        _drop_breadcrumbs(blocks, kept)
    return Selection(kept, selection.expected)


def remove_others(blocks: Blocks, kept: Mask) -> None:
    """Take the blocks that do not stay out of the tree, with the places that hold nothing else."""
    staying = np.concatenate(([0], np.cumsum(kept)))
    held = staying[blocks.ends] - staying[blocks.starts]
    is_empty = held == 0
    is_empty[0] = False  # the body stays, whatever is in it
    for place in np.flatnonzero(is_empty & ~is_empty[blocks.parents]).tolist():
        blocks.elements[place].decompose()
    # What is left of the others stands in places that stay.
    ends = [*blocks.firsts[1:], len(blocks.nodes)]
    for number in np.flatnonzero(~kept & ~is_empty[blocks.homes]).tolist():
        for node in blocks.nodes[blocks.firsts[number] : ends[number]]:
            node.extract()


def _best(likely: NDArray[np.float64], chars: NDArray[np.float64]) -> Selection:
    """Take the likeliest blocks as long as the expected F1 rises: 2·right / (taken + wanted)."""
    order = np.argsort(-likely, kind="stable")
    right = np.cumsum((likely * chars)[order])
    expected = 2 * right / np.maximum(np.cumsum(chars[order]) + right[-1], 1)
    last = int(expected.argmax())
    kept = np.zeros(len(chars), np.bool_)
    kept[order[: last + 1]] = True
    return Selection(kept, float(expected[last]))


def _complete_groups(blocks: Blocks, kept: Mask, chars: NDArray[np.float64]) -> None:
    groups = np.flatnonzero(_IS_GROUP[blocks.codes])
    if not groups.size:
        return
    starts, ends = blocks.starts[groups], blocks.ends[groups]
    whole = np.concatenate(([0], np.cumsum(chars)))
    part = np.concatenate(([0], np.cumsum(chars * kept)))
    is_kept = part[ends] - part[starts] >= WHOLE_SHARE * (whole[ends] - whole[starts])
    _keep(kept, starts[is_kept], ends[is_kept])


def _restore_exhibits(blocks: Blocks, kept: Mask, likely: NDArray[np.float64]) -> None:
    """Keep code and tables where most of the text beside them stays."""
    exhibits = np.flatnonzero((blocks.codes == _CODE) | (blocks.codes == _TABLE))
    if not exhibits.size:
        return
    _keep_code(blocks, kept)
    chars = blocks.chars
    sums = np.zeros((3, len(kept) + 1))
    np.cumsum((chars, chars * likely, chars * kept), axis=1, out=sums[:, 1:])
    starts, ends = blocks.starts[exhibits], blocks.ends[exhibits]
    around = _around(blocks, exhibits)
    own = sums[:, ends] - sums[:, starts]
    rest = sums[:, blocks.ends[around]] - sums[:, blocks.starts[around]] - own
    is_kept = (own[1] >= own[0] * MIN_EXHIBIT_LIKELY) & (rest[2] > rest[0] * WHOLE_SHARE)
    _keep(kept, starts[is_kept], ends[is_kept])


def _keep_code(blocks: Blocks, kept: Mask) -> None:
    """Keep every listing of an `article` or `main` of which most stays: tabs hold little else."""
    hearts = np.flatnonzero((blocks.codes == CODES["article"]) | (blocks.codes == CODES["main"]))
    chars = np.concatenate(([0], np.cumsum(blocks.chars)))
    part = np.concatenate(([0], np.cumsum(blocks.chars * kept)))
    starts, ends = blocks.starts, blocks.ends
    for heart in hearts[:MAX_MAIN_ELEMENTS].tolist():
        first, last = starts[heart], ends[heart]
        if part[last] - part[first] > WHOLE_SHARE * (chars[last] - chars[first]):
            listings = np.flatnonzero((blocks.codes == _CODE) & (starts >= first) & (ends <= last))
            _keep(kept, starts[listings], ends[listings])


def _fill_holes(blocks: Blocks, kept: Mask) -> None:
    edges = np.diff(kept.astype(np.int8))
    starts, ends = np.flatnonzero(edges < 0) + 1, np.flatnonzero(edges > 0) + 1
    if ends.size and (not starts.size or ends[0] < starts[0]):
        ends = ends[1:]  # what is missing before the first block that stays is no hole
    starts = starts[: len(ends)]
    if not starts.size:
        return
    around = blocks.parents[blocks.homes]
    chars = np.concatenate(([0], np.cumsum(blocks.chars)))
    linked = np.concatenate(([0], np.cumsum(blocks.linked)))
    size = chars[ends] - chars[starts]
    is_plain = linked[ends] - linked[starts] <= size * MAX_HOLE_LINKED
    is_filled = (around[starts - 1] == around[ends]) & (size <= MAX_HOLE_CHARS) & is_plain
    _keep(kept, starts[is_filled], ends[is_filled])


def _restore_headings(blocks: Blocks, kept: Mask) -> None:
    """Keep a heading when something of its section stays."""
    codes = blocks.codes[blocks.homes]
    headings = np.flatnonzero((codes >= 0) & (codes < len(HEADINGS)))[::-1]
    if not headings.size:
        return
    stays = kept.copy()
    stays[headings] = False
    staying = [0, *np.cumsum(stays).tolist()]
    ends = blocks.ends[_around(blocks, blocks.homes[headings])]
    below = [len(kept)] * len(HEADINGS)  # the next heading of each level or one above it
    rows = zip(headings.tolist(), codes[headings].tolist(), ends.tolist(), strict=True)
    for number, level, end in rows:
        if staying[min(below[level], end)] > staying[number]:
            kept[number] = True
        below[level:] = [number] * (len(HEADINGS) - level)


def _drop_breadcrumbs(blocks: Blocks, kept: Mask) -> None:
    """Drop what is mostly links above the title of a manual's page: the way to it."""
    titles = np.flatnonzero(blocks.codes[blocks.homes] == CODES["h1"])
    if titles.size:
        first = int(titles[0])
        kept[:first] &= blocks.linked[:first] <= blocks.chars[:first] * WHOLE_SHARE


def _around(blocks: Blocks, places: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return of each place the nearest around it that holds more than it."""
    starts, ends = blocks.starts[places], blocks.ends[places]
    for _ in range(MAX_WRAPPERS):
        is_alone = (blocks.ends[places] <= ends) & (blocks.starts[places] >= starts)
        places = np.where(is_alone, blocks.parents[places], places)
    return places


def _keep(kept: Mask, starts: NDArray[np.intp], ends: NDArray[np.intp]) -> None:
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        kept[start:end] = True
