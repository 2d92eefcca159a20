"""A page's markdown as a row of passages: headings, paragraphs, items, rows of tables, code.

Everything in this room reads passages and nothing else of the text, so that a page which was
crawled long ago is understood from its record alone. Marks of emphasis, images and the targets of
links are taken out: what is decided must not depend on how the markdown was asked for. It never
raises, and reads so many characters and passages and no more.
"""

from __future__ import annotations

import re
from enum import Enum, auto
from typing import NamedTuple

MAX_PASSAGES = 5000
MAX_LEVEL = 6

_FENCES = ("```", "~~~")
_ITEM = re.compile(r"(?:[-*+]|\d{1,4}[.)]) {1,4}")
_RULE = frozenset("-*_| :=")
_IMAGE = re.compile(r"!\[[^\[\]\n]{0,1000}\]\([^()\s]{0,4000}(?: \"[^\"\n]{0,500}\")?\)")
_LINK = re.compile(
    r"\[([^\[\]\n]{0,2000})\]\("
    r"(?:<[^<>\n]{0,4000}>|[^()\s]{0,4000}(?:\([^()\s]{0,200}\)[^()\s]{0,500})?)"
    r"(?: \"[^\"\n]{0,500}\")?\)"
)
_MARK = re.compile(
    r"\*{1,3}|(?<!\w)_{1,2}(?=\S)|(?<=\S)_{1,2}(?!\w)|`{1,3}|~~"
    r"|</?(?:sub|sup|kbd|mark|ins|u|abbr|details|summary)>"
)
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_SIGNS = frozenset("*_`~<\\")
_SPACE = "\u00a0"


class Form(Enum):
    """What a passage is on the page."""

    HEADING = auto()
    PARAGRAPH = auto()
    ITEM = auto()
    ROW = auto()
    CODE = auto()


class Passage(NamedTuple):
    """A line of a page without its marks; `level` is that of a heading.

    A tuple, because a page has hundreds. The cells of a row are held apart by ` | `.
    """

    form: Form
    text: str
    level: int = 0


Passages = tuple[Passage, ...]


def read_passages(markdown: str, max_chars: int) -> Passages:
    """Take markdown apart; what is longer than `max_chars` is read up to there (C-73)."""
    found: list[Passage] = []
    fence = ""
    code: list[str] = []
    for line in markdown[:max_chars].split("\n"):
        if len(found) == MAX_PASSAGES:
            break
        stripped = line.strip()
        if fence:
            if stripped.startswith(fence):
                found.append(Passage(Form.CODE, "\n".join(code)))
                fence, code = "", []
            else:
                code.append(line)
        elif stripped.startswith(_FENCES):
            fence = stripped[: len(stripped) - len(stripped.lstrip(stripped[0]))]
        elif stripped and (passage := _passage(stripped)) is not None:
            found.append(passage)
    if code:  # the text ends inside of it
        found.append(Passage(Form.CODE, "\n".join(code)))
    return tuple(found)


def cut(text: str, max_chars: int) -> str:
    """Return a text, or as many of its first words as there is room for."""
    return text if len(text) <= max_chars else text[: max_chars - 1].rsplit(" ", 1)[0] + "…"


def _passage(line: str) -> Passage | None:
    line = line.lstrip("> ")
    form = Form.PARAGRAPH
    if (item := _ITEM.match(line)) is not None:
        line, form = line[item.end() :], Form.ITEM
    if line[:1] == "#":
        title = line.lstrip("#")
        level = len(line) - len(title)
        if title[:1] == " " and level <= MAX_LEVEL:
            return _made(Form.HEADING, title, level)
    if line[:1] == "|":
        return _made(Form.ROW, line.strip("| ")) if not _RULE.issuperset(line) else None
    return None if _RULE.issuperset(line) else _made(form, line)


def _made(form: Form, text: str, level: int = 0) -> Passage | None:
    text = shown(text)
    return Passage(form, text, level) if text else None


def shown(line: str) -> str:
    """Return a line of markdown as a reader sees it."""
    # Most lines have none of these, and to look for a sign costs a tenth of a substitution.
    if "](" in line:
        line = _LINK.sub(r"\1", _IMAGE.sub("", line))
    if not _SIGNS.isdisjoint(line):
        line = _MARK.sub("", line)
        line = _ESCAPED.sub(r"\1", line)
    if "  " in line or _SPACE in line:
        line = " ".join(line.replace(_SPACE, " ").split())
    return line.strip()
