"""Put pieces together to the markdown of one chunk.

Pieces of one block are joined as they were. A part of a fence is opened and closed, a part of a
table has its head. A chunk that begins inside a list is set out, or its code would be no code.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from geomi.chunk.pieces import Piece


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
