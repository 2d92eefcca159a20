"""The things of a page's JSON-LD that are worth reading whole: products and questions (ANA-14).

Pairs keep of a list its first object only; a product's properties and a page's questions are lists.
So these objects are kept as they are, as JSON, but for what is too deep, too long or too many: a
page cannot make its record larger than `MAX_THINGS` × `MAX_THING_CHARS`.
"""

from __future__ import annotations

from dataclasses import dataclass

import orjson

MAX_THINGS = 4
MAX_THING_CHARS = 24_000  # of the texts in one; fifty questions with answers of two paragraphs
MAX_TEXT_CHARS = 2000
MAX_KEY_CHARS = 100
MAX_FIELDS = 60
MAX_LIST = 60
MAX_DEPTH = 6

_WANTED = frozenset(("Product", "ProductGroup", "FAQPage", "QAPage"))


def is_wanted(kinds: tuple[str, ...]) -> bool:
    """Say whether an object of these types is kept whole."""
    return not _WANTED.isdisjoint(kinds)


def keep_whole(node: dict[str, object]) -> str:
    """Return an object as JSON, cut where it is out of bounds."""
    return orjson.dumps(_bounded(node, _Room(MAX_THING_CHARS), 0)).decode()


@dataclass(slots=True)
class _Room:
    """How many characters there still is room for."""

    chars: int

    def take(self, text: str, limit: int) -> str:
        taken = text[: min(limit, self.chars)]
        self.chars -= len(taken)
        return taken


def _bounded(value: object, room: _Room, depth: int) -> object:
    match value:
        case str():
            return room.take(value, MAX_TEXT_CHARS)
        case dict() if depth < MAX_DEPTH:
            return {
                room.take(key, MAX_KEY_CHARS): _bounded(part, room, depth + 1)
                for key, part in list(value.items())[:MAX_FIELDS]
                if room.chars > 0
            }
        case list() if depth < MAX_DEPTH:
            return [_bounded(part, room, depth + 1) for part in value[:MAX_LIST] if room.chars > 0]
        case bool() | int() | float():
            return value
    return None
