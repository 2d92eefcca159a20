"""Read markdown as blocks, line by line: headings, fences, tables, and text of any other kind.

Only what matters for cutting is told apart. Fences and tables are found inside lists and
quotations as well. A fence that nobody closes goes on to the end, as it does in CommonMark.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

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
        """Tell whether a line ends it."""
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
