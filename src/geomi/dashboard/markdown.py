"""Split a document's markdown into blocks that a page can show without any HTML from the web.

It reads headings, lists, quotations, code, tables and paragraphs. A link becomes its text and an
image a note, so that reading a document fetches nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

MAX_BLOCKS = 2000
MAX_BLOCK_CHARS = 20_000

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(\S.*)")
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+(\S.*)")
_PICTURE = re.compile(r"!\[([^\[\]]{0,500})\]\([^()\s]{0,4000}\)")
_STRESS = re.compile(r"(?<![\w*])[*_]([^*_]{1,200})[*_](?![\w*])")
_LINK = re.compile(r"\[([^\[\]]{0,500})\]\([^()\s]{0,4000}\)")


class DisplayBlockKind(StrEnum):
    """What a block is."""

    HEADING = "heading"
    ITEM = "item"
    QUOTE = "quote"
    CODE = "code"
    TABLE = "table"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class DisplayBlock:
    """A part of a document; `level` is that of a heading."""

    kind: DisplayBlockKind
    text: str
    level: int = 0


def blocks(markdown: str) -> tuple[DisplayBlock, ...]:
    """Read markdown, up to a limit; whatever it is, it is read."""
    found: list[DisplayBlock] = []
    for block in _blocks(markdown):
        if len(found) == MAX_BLOCKS:
            break
        found.append(DisplayBlock(block.kind, block.text[:MAX_BLOCK_CHARS], block.level))
    return tuple(found)


def _blocks(markdown: str) -> Iterator[DisplayBlock]:
    waiting: list[str] = []
    kind = DisplayBlockKind.TEXT
    fence = ""
    for line in markdown.splitlines():
        if fence:
            if line.strip().startswith(fence) and not line.strip(" `~"):
                yield DisplayBlock(DisplayBlockKind.CODE, "\n".join(waiting))
                waiting, fence = [], ""
            else:
                waiting.append(line)
            continue
        found = _kind(line)
        if waiting and (found is not kind or not line.strip()):
            yield _joined(kind, waiting)
            waiting = []
        if opened := _FENCE.match(line):
            fence = opened[1]
        elif heading := _HEADING.fullmatch(line):
            yield DisplayBlock(
                DisplayBlockKind.HEADING, _plain(heading[2].rstrip("# ")), len(heading[1])
            )
        elif item := _ITEM.fullmatch(line):
            yield DisplayBlock(DisplayBlockKind.ITEM, _plain(item[1]))
        elif line.strip():
            kind = found
            waiting.append(line)
    if fence:  # it was never closed
        yield DisplayBlock(DisplayBlockKind.CODE, "\n".join(waiting))
    elif waiting:
        yield _joined(kind, waiting)


def _kind(line: str) -> DisplayBlockKind:
    text = line.lstrip()
    if text.startswith(">"):
        return DisplayBlockKind.QUOTE
    return DisplayBlockKind.TABLE if text.startswith("|") else DisplayBlockKind.TEXT


def _joined(kind: DisplayBlockKind, lines: list[str]) -> DisplayBlock:
    if kind is DisplayBlockKind.TABLE:
        return DisplayBlock(kind, "\n".join(_plain(line) for line in lines))
    if kind is DisplayBlockKind.QUOTE:
        lines = [line.lstrip().removeprefix(">").strip() for line in lines]
    text = " ".join(line.strip() for line in lines)
    return DisplayBlock(kind, _plain(text.removeprefix(": ")))  # what a definition begins with


def _plain(text: str) -> str:
    """Return a text without the addresses in it and the marks around its words."""
    text = _PICTURE.sub(lambda match: f"[{match[1]}]" if match[1] else "", text)
    text = _LINK.sub(lambda match: match[1], text)
    text = text.replace("**", "").replace("`", "")
    return _STRESS.sub(lambda match: match[1], text)
