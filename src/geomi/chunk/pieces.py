"""Split a page into the pieces that chunks are made of, and price a cut before each piece.

A piece is a whole block with the headings right above it, if it fits into a chunk: a heading is
never separated from its text. A block that does not fit is broken into rows, lines, items,
sentences and, as a last resort, words. Pieces of a fence know its opening and closing lines (with
the language), pieces of a table know its head.

Markdown is read as blocks, line by line, and only what matters for cutting is told apart: headings,
fences, tables, and text. Fences and tables are found inside lists and quotations as well. A fence
that nobody closes goes on to the end, as it does in CommonMark.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from geomi.model.index.chunk import Tokenizer

# What the line below a table's head is made of.
RULER_SIGNS = frozenset(" \t:|-\r")
# More than this is no heading that anybody would want to see above a search result.
MAX_HEADING_CHARS = 300

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(?=\S)")
# What may stand in front of a fence or a table: indentation, quotation, the sign of an item.
_PREFIX = r"((?:[ \t>]|[-*+] |\d{1,9}[.)] ){0,40})"
_FENCE = re.compile(_PREFIX + r"(`{3,}(?=[^`]*$)|~{3,})(.*)$")
_ROW = re.compile(_PREFIX + r"\|")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()]*\)")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")


class Kind(StrEnum):
    """What a block is, as far as cutting it differs."""

    HEADING = "heading"
    FENCE = "fence"
    TABLE = "table"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class MarkdownBlock:
    """Lines that belong together; `level` is a heading's."""

    kind: Kind
    lines: tuple[str, ...]
    level: int = 0


@dataclass(frozen=True, slots=True)
class Fence:
    """How a fence is opened and closed."""

    prefix: str
    marks: str
    info: str

    def is_closed_by(self, line: str) -> bool:
        """Return whether a line ends it."""
        rest = line.lstrip(" \t>").rstrip()
        return len(rest) >= len(self.marks) and rest == self.marks[0] * len(rest)


def read_blocks(markdown: str) -> Iterator[MarkdownBlock]:
    """Yield the blocks of a text in order; blank lines between them belong to none."""
    lines = markdown.split("\n")
    at = 0
    while at < len(lines):
        line = lines[at]
        if not line.strip(" \t>\r"):
            at += 1
            continue
        kind, end, level = _extent(lines, at)
        yield MarkdownBlock(kind, tuple(lines[at:end]), level)
        at = end


def opened_fence(line: str) -> Fence | None:
    """Return the fence that a line opens."""
    if "```" not in line and "~~~" not in line:
        return None
    found = _FENCE.match(line)
    return Fence(found[1], found[2], found[3].strip()) if found else None


def heading_text(line: str) -> str:
    """Return a heading's words without their markup."""
    words = line.lstrip(" #\t").rstrip(" #\t\r")
    words = _LINK.sub(r"\1", words).replace("`", "").replace("**", "")
    return " ".join(_ESCAPED.sub(r"\1", words).split())


def _extent(lines: list[str], at: int) -> tuple[Kind, int, int]:
    """Return what begins at a line, where it ends, and a heading's level."""
    line = lines[at]
    if (level := _level(line)) > 0:
        return Kind.HEADING, at + 1, level
    if (fence := opened_fence(line)) is not None:
        return Kind.FENCE, _end_of_fence(lines, at, fence), 0
    if _begins_table(lines, at):
        return Kind.TABLE, _end_of_table(lines, at), 0
    return Kind.TEXT, _end_of_text(lines, at), 0


def _level(line: str) -> int:
    found = _HEADING.match(line) if "#" in line[:4] else None
    return len(found[1]) if found and len(line) <= MAX_HEADING_CHARS else 0


def _end_of_fence(lines: list[str], at: int, fence: Fence) -> int:
    for end in range(at + 1, len(lines)):
        if fence.is_closed_by(lines[end]):
            return end + 1
    return len(lines)


def _begins_table(lines: list[str], at: int) -> bool:
    if "|" not in lines[at] or at + 1 == len(lines) or not _is_ruler(lines[at + 1]):
        return False
    return _ROW.match(lines[at]) is not None


def _is_ruler(line: str) -> bool:
    row = line.lstrip(" \t>")
    return row.startswith("|") and "-" in row and RULER_SIGNS.issuperset(row)


def _end_of_table(lines: list[str], at: int) -> int:
    end = at + 2
    while end < len(lines) and lines[end].lstrip(" \t>").startswith("|"):
        end += 1
    return end


def _end_of_text(lines: list[str], at: int) -> int:
    end = at + 1
    while end < len(lines) and lines[end].strip(" \t>\r"):
        line = lines[end]
        if _level(line) or opened_fence(line) is not None or _begins_table(lines, end):
            break
        end += 1
    return end


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
