"""A page as pieces that a chunk is put together of, with what it costs to cut before each.

A piece is a whole block while it fits into a chunk, under the headings right above it: a heading
is never parted from what it heads. A block that does not fit is broken into rows, lines, items,
sentences and, where nothing else helps, words. Pieces of a fence know how it is opened and closed
(with its language), pieces of a table know its head.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from geomi.chunk.blocks import Kind, MarkdownBlock, heading_text, opened_fence, read_blocks
from geomi.model.index.chunk import Tokenizer

# A broken block has units of at most this size where it can, so that two halves can be even.
UNIT_TOKENS = 60
# A word without end is cut after so many characters: at two tokens each a unit keeps its size.
WORD_CHARS = 30
# What is repeated in each part of a fence or a table may not fill the chunk.
MAX_WRAP_TOKENS = 120
# Headings above one block; more are text of their own (a page that has nothing else).
MAX_GLUED_TOKENS = 150

# Costs of cutting before something, smaller is better; only their order and rough distance matter.
# A quarter of a level: a chapter is a better place than a section, and both are good ones.
LEVEL_COST = 0.25
BLOCK_COST = 3.0
ITEM_COST = 4.0
INNER_COST = 6.0  # inside an item, or between "as follows:" and what follows
ROW_COST = 5.0
LINE_COST = 6.0
SENTENCE_COST = 7.0
WORD_COST = 9.0

_ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)])[ \t]")
_SENTENCE_END = re.compile(r"[.!?…][\"')\]*_]{0,4}\s+|[。！？]+[」』）]?\s*")
_WORD = re.compile(rf"\S{{1,{WORD_CHARS}}}\s*|\s+")
_SIGNS = re.compile(r"[^ \t>]")


@dataclass(frozen=True, slots=True)
class Piece:
    """Text that is not cut any further, for now.

    Args:
        block: number of the block it belongs to; neighbours of one block are joined again.
        heads: the headings that stand right above it, as lines.
        lead, tail: what opens and closes a part of its block, `wrap` tokens together.
        starts: it is the first of its block; `tokens` holds `wrap` already.
        cost: of cutting before it.
    """

    block: int
    kind: Kind
    text: str
    path: tuple[str, ...]
    cost: float
    tokens: int
    heads: str = ""
    lead: str = ""
    tail: str = ""
    wrap: int = 0
    starts: bool = True


def read_pieces(markdown: str, tokenizer: Tokenizer, max_tokens: int) -> list[Piece]:
    """Return a page as pieces, each at most so large."""
    pieces: list[Piece] = []
    for piece in _whole_blocks(markdown, tokenizer):
        if piece.tokens <= max_tokens:
            pieces.append(piece)
        else:
            pieces.extend(broken(piece, tokenizer))
    return pieces


def broken(piece: Piece, tokenizer: Tokenizer) -> list[Piece]:
    """Break a whole block into small units; one that is a unit already stays."""
    if piece.lead or not piece.starts:
        return [piece]
    lead, tail, units = _units(piece, tokenizer)
    wrap = tokenizer.count(lead + tail)
    heads = tokenizer.count(piece.heads)
    parts = []
    for number, (text, cost) in enumerate(units):
        part = replace(
            piece, text=text, cost=cost, tokens=tokenizer.count(text) + 1,
            heads="", lead=lead, tail=tail, wrap=wrap, starts=False,
        )  # fmt: skip
        if number == 0:
            tokens = part.tokens + wrap + heads
            part = replace(part, cost=piece.cost, tokens=tokens, heads=piece.heads, starts=True)
        parts.append(part)
    return parts


def _whole_blocks(markdown: str, tokenizer: Tokenizer) -> Iterator[Piece]:
    outline: list[tuple[int, str]] = []
    heads: list[str] = []
    cost, before = BLOCK_COST, ""
    for number, block in enumerate(read_blocks(markdown)):
        text = _closed(block)
        if block.kind is Kind.HEADING:
            outline = [(level, words) for level, words in outline if level < block.level]
            outline.append((block.level, heading_text(text)))
            cost = min(cost, LEVEL_COST * block.level) if heads else LEVEL_COST * block.level
            heads.append(text)
            if tokenizer.count("\n".join(heads)) <= MAX_GLUED_TOKENS:
                continue
            heads, text = heads[:-1], heads[-1]
        elif not heads:
            cost = _cost(block, before)
        above = "".join(f"{head}\n\n" for head in heads)
        tokens = tokenizer.count(above + text) + 1
        path = tuple(words for _, words in outline)
        yield Piece(number, block.kind, text, path, cost, tokens, above)
        heads, before = [], text
    if heads:  # a page may end with a heading
        above, path = "\n\n".join(heads), tuple(words for _, words in outline)
        yield Piece(-1, Kind.TEXT, above, path, cost, tokenizer.count(above) + 1)


def _closed(block: MarkdownBlock) -> str:
    """Return a block's text; a fence that its page left open is closed."""
    text = "\n".join(block.lines)
    fence = opened_fence(block.lines[0]) if block.kind is Kind.FENCE else None
    if fence is None or (len(block.lines) > 1 and fence.is_closed_by(block.lines[-1])):
        return text
    return f"{text}\n{_set_in(fence.prefix)}{fence.marks}"


def _cost(block: MarkdownBlock, before: str) -> float:
    """Return what it costs to cut between a block and the one before it."""
    first = block.lines[0]
    if first[:1] in (" ", "\t") or before.endswith(":"):
        return INNER_COST
    return ITEM_COST if _ITEM.match(first) else BLOCK_COST


def _units(piece: Piece, tokenizer: Tokenizer) -> tuple[str, str, list[tuple[str, float]]]:
    """Return what opens and closes each part of a block, and its units with their costs."""
    match piece.kind:
        case Kind.FENCE:
            lead, tail, body = _of_fence(piece.text)
        case Kind.TABLE:
            lead, tail, body = _of_table(piece.text)
        case _:
            lead, tail, body = "", "", piece.text
    if tokenizer.count(lead) > MAX_WRAP_TOKENS:
        if piece.kind is Kind.FENCE:  # its marks are needed, its endless info string is not
            lead = tail + "\n"
        else:
            lead, body = "", piece.text
    line_cost = ROW_COST if piece.kind is Kind.TABLE else LINE_COST
    return lead, tail and f"\n{tail}", list(_cut(body, line_cost, tokenizer))


def _of_fence(text: str) -> tuple[str, str, str]:
    lines = text.split("\n")
    fence = opened_fence(lines[0])
    if fence is None:
        return "", "", text
    closing = _set_in(fence.prefix) + fence.marks
    return f"{closing}{fence.info}\n", closing, "\n".join(lines[1:-1])


def _of_table(text: str) -> tuple[str, str, str]:
    head, ruler, *rows = text.split("\n")
    start = head.index("|")
    return f"{_set_in(head[:start])}{head[start:]}\n{ruler}\n", "", "\n".join(rows)


def _set_in(prefix: str) -> str:
    """Return what stands in front of further lines: the sign of an item begins it only once."""
    return _SIGNS.sub(" ", prefix)


def _cut(body: str, line_cost: float, tokenizer: Tokenizer) -> Iterator[tuple[str, float]]:
    """Yield the units of a text, each with the white space behind it."""
    for line in body.splitlines(keepends=True):
        cost = ITEM_COST if line_cost == LINE_COST and _ITEM.match(line) else line_cost
        if tokenizer.count(line) <= UNIT_TOKENS:
            yield line, cost
            continue
        for sentence in _sentences(line):
            if tokenizer.count(sentence) <= UNIT_TOKENS:
                yield sentence, cost
                cost = SENTENCE_COST
                continue
            for words in _words(sentence, tokenizer):
                yield words, cost
                cost = WORD_COST
            cost = SENTENCE_COST


def _sentences(line: str) -> Iterator[str]:
    start = 0
    for end in _SENTENCE_END.finditer(line):
        yield line[start : end.end()]
        start = end.end()
    if start < len(line):
        yield line[start:]


def _words(sentence: str, tokenizer: Tokenizer) -> Iterator[str]:
    taken, tokens = "", 0
    for word in _WORD.findall(sentence):
        size = tokenizer.count(word)
        if taken and tokens + size > UNIT_TOKENS:
            yield taken
            taken, tokens = "", 0
        taken += word
        tokens += size
    if taken:
        yield taken
