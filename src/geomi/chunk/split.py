"""Cut a page's markdown into chunks (CHK-01, CHK-02, CHK-04, C-37).

A chunk ends where a reader would pause: at the cheapest place within reach. Cuts before headings
are cheapest, then cuts at the ends of blocks; sizes below the healthy range cost extra. Between
places with the same price a hash of the following text decides. So after an edit the later cuts
soon fall where they fell before, and chunks keep their ids.

No chunk exceeds the limit. A chunk below the least size is merged with a neighbour if both fit into
one chunk; otherwise the two are cut again in the middle.

Pieces of one block are joined as they were. Each part of a fence is opened and closed, and each
part of a table has the head. A chunk that begins inside a list loses its indentation; otherwise
its code would not be code.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, takewhile

from geomi.chunk.pieces import LEVEL_COST, Piece, broken, read_pieces
from geomi.chunk.tokens import GEOMI_1
from geomi.model.index.chunk import Chunk, Chunked, Tokenizer
from geomi.text.encoding import replace_surrogates
from geomi.text.identifiers import sha256_hex

MAX_TOKENS = 500  # CHK-01
MIN_TOKENS = 50  # CHK-02
HEALTHY_TOKENS = 200  # the least of the mean (CHK-03)
# 100,000 characters, the most that is analysed of a page (CFG-16), are about 100 chunks.
MAX_CHUNKS = 2_000
ID_CHARS = 24
# What a chunk below the healthy size costs, the more the smaller: half of that size costs as much
# as a cut between two blocks is dearer than one before a heading.
SMALL_COST = 4.0
# Two chunks of healthy size that a heading parts are better than one that holds both.
WHOLE_COST = 2.0


@dataclass(frozen=True, slots=True)
class Sizes:
    """How large chunks may be and have to be, in tokens."""

    most: int = MAX_TOKENS
    least: int = MIN_TOKENS
    healthy: int = HEALTHY_TOKENS


SIZES = Sizes()


def split(markdown: str, *, tokenizer: Tokenizer = GEOMI_1, sizes: Sizes = SIZES) -> Chunked:
    """Cut a text into chunks; empty and repeated ones are counted and left out."""
    pieces = read_pieces(replace_surrogates(markdown), tokenizer, sizes.most)
    parts = _without_small(_cuts(pieces, sizes), tokenizer, sizes)
    chunks: list[Chunk] = []
    seen: set[tuple[str, tuple[str, ...]]] = set()
    times: Counter[str] = Counter()
    empty = duplicates = 0
    for text, tokens, path in _written(parts, tokenizer, sizes):
        if not any(map(str.isalnum, text)):
            empty += 1
        elif (text, path) in seen:
            duplicates += 1
        else:
            seen.add((text, path))
            digest = sha256_hex(text)[:ID_CHARS]
            name = f"{digest}-{times[digest]}"
            times[digest] += 1
            chunks.append(Chunk(name, text, path, len(chunks), tokens, tokenizer.name))
    left_out = max(0, len(chunks) - MAX_CHUNKS)
    return Chunked(tuple(chunks[:MAX_CHUNKS]), empty, duplicates, left_out)


def _cuts(pieces: Sequence[Piece], sizes: Sizes) -> list[list[Piece]]:
    """Cut a page at the cheapest places within reach, from its start to its end."""
    rest = sum(piece.tokens for piece in pieces)
    parts: list[list[Piece]] = []
    start = 0
    while start < len(pieces):
        end = _next_cut(pieces, start, rest, sizes)
        parts.append(list(pieces[start:end]))
        rest -= sum(piece.tokens for piece in pieces[start:end])
        start = end
    return parts


def _next_cut(pieces: Sequence[Piece], start: int, rest: int, sizes: Sizes) -> int:
    """Return where the chunk that begins at `start` ends."""
    first = pieces[start]
    opening = 0 if first.starts else first.wrap
    size, end = opening + first.tokens, start + 1
    best: tuple[float, int, int] | None = None
    while end < len(pieces) and size <= sizes.most:
        left = rest + opening - size
        if size >= sizes.least and left >= sizes.least:
            cost = pieces[end].cost + _penalty(size, sizes) + _penalty(left, sizes)
            if best is None or cost <= best[0]:
                place = (cost, zlib.crc32(pieces[end].text.encode()), end)
                best = place if best is None else min(best, place)
        size += pieces[end].tokens
        end += 1
    is_last = end == len(pieces) and size <= sizes.most
    if is_last and (best is None or best[0] > WHOLE_COST):
        return end
    if best is not None:
        return best[2]
    return max(start + 1, end - 1)  # nothing of a good size: as much as fits


def _penalty(size: int, sizes: Sizes) -> float:
    return max(0.0, SMALL_COST * (1 - size / sizes.healthy))


def _without_small(
    parts: list[list[Piece]], tokenizer: Tokenizer, sizes: Sizes
) -> list[list[Piece]]:
    """Merge what is too small with a neighbour, or cut both anew in the middle (C-37)."""
    done: list[list[Piece]] = []
    for part in parts:
        if not done or not (_is_small(part, sizes) or _is_small(done[-1], sizes)):
            done.append(part)
        elif _size(both := done[-1] + part) <= sizes.most:
            done[-1] = both
        else:
            done[-1:] = _halves(both, tokenizer, sizes)
    return done


def _written(
    parts: Sequence[list[Piece]], tokenizer: Tokenizer, sizes: Sizes
) -> Iterator[tuple[str, int, tuple[str, ...]]]:
    """Yield text, size and headings of each chunk.

    One that is too large after all is halved: a foreign tokenizer may count the parts of a text as
    less than the whole.
    """
    waiting = list(reversed(parts))
    while waiting:
        part = waiting.pop()
        text = compose(part)
        tokens = tokenizer.count(text)
        halves = _halves(part, tokenizer, sizes) if tokens > sizes.most else []
        if len(halves) > 1:
            waiting += reversed(halves)
        else:
            yield text, tokens, _common_path(part)


def _halves(pieces: Sequence[Piece], tokenizer: Tokenizer, sizes: Sizes) -> list[list[Piece]]:
    """Cut in the middle, between blocks where that leaves two of a good size."""
    units = list(pieces)
    if not any(_is_even(units, at, sizes) for at in range(1, len(units))):
        units = [unit for piece in pieces for unit in broken(piece, tokenizer)]
    if len(units) < 2:
        return [units]
    middle = sum(unit.tokens for unit in units) / 2
    cut, before, least = 1, 0, float("inf")
    for at in range(1, len(units)):
        before += units[at - 1].tokens
        # A tenth of the whole more to one side is worth one step of cost.
        unevenness = abs(before - middle) / (middle / 5 or 1) + units[at].cost * LEVEL_COST
        if unevenness < least:
            cut, least = at, unevenness
    return [units[:cut], units[cut:]]


def _is_even(units: Sequence[Piece], at: int, sizes: Sizes) -> bool:
    halves = (units[:at], units[at:])
    return all(_size(half) <= sizes.most and not _is_small(half, sizes) for half in halves)


def _is_small(part: Sequence[Piece], sizes: Sizes) -> bool:
    return _size(part) - len(part) < sizes.least  # each piece counts a line end that may not come


def _size(part: Sequence[Piece]) -> int:
    opening = 0 if part[0].starts else part[0].wrap
    return opening + sum(piece.tokens for piece in part)


def _common_path(part: Sequence[Piece]) -> tuple[str, ...]:
    """Return the headings that stand above all of a chunk."""
    levels = zip(*(piece.path for piece in part), strict=False)
    return tuple(names[0] for names in takewhile(lambda names: len(set(names)) == 1, levels))


def compose(pieces: Iterable[Piece]) -> str:
    """Return the text of a chunk."""
    blocks = (_block(list(group)) for _, group in groupby(pieces, key=_number))
    return _set_out("\n\n".join(block for block in blocks if block))


def _number(piece: Piece) -> int:
    return piece.block


def _block(pieces: list[Piece]) -> str:
    first = pieces[0]
    body = "".join(piece.text for piece in pieces).rstrip("\n")
    return f"{first.heads}{first.lead}{body}{first.tail}".rstrip(" \n")


def _set_out(text: str) -> str:
    """Take the indentation of the first line from it and from all that belong to it."""
    width = len(text) - len(text.lstrip(" "))
    if not width:
        return text
    indent = " " * width
    lines = text.split("\n")
    for at, line in enumerate(lines):
        if line.startswith(indent):
            lines[at] = line[width:]
        elif line.strip():
            break
        else:
            lines[at] = ""
    return "\n".join(lines)
