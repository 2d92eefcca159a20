"""Write and read cursors: opaque texts that say where the next part of a list begins."""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Sequence
from typing import TypeVar

from geomi.errors import UnknownName

T = TypeVar("T")


def encode_cursor(place: str) -> str:
    """Write a place in a list as a cursor."""
    return urlsafe_b64encode(place.encode()).decode().rstrip("=")


def decode_cursor(cursor: str | None, shape: re.Pattern[str]) -> str:
    """Read a cursor; empty at the beginning of a list. `UnknownName` for an invalid one."""
    if cursor is None:
        return ""
    try:
        place = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode()
    except ValueError as error:
        raise _strange(cursor) from error
    if not shape.fullmatch(place):
        raise _strange(cursor)
    return place


def cut_to_limit(
    found: Sequence[T], limit: int, name: Callable[[T], str]
) -> tuple[Sequence[T], str | None]:
    """Cut a list that was read one further than asked for, and say where the rest begins."""
    if len(found) <= limit:
        return found, None
    return found[:limit], encode_cursor(name(found[limit - 1]))


def _strange(cursor: str) -> UnknownName:
    return UnknownName(
        f"`{cursor[:40]}` is not a cursor of this list",
        hint="use `nextCursor` of the part before, or leave it out",
    )
