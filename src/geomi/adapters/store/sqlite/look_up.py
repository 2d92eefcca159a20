"""Many rows of one queue by their keys, in statements of few different sizes.

Each size is prepared once; what is missing up to the next size repeats the last key.
"""

from __future__ import annotations

from collections.abc import Mapping

from geomi.adapters.store.rows import Row
from geomi.adapters.store.sqlite.connection import SqliteSession

_MOST_AT_ONCE = 256


def by_size(statement: str) -> dict[int, str]:
    """Return a statement with room for 1, 2, 4, … keys in place of its `/* hashes */`."""
    sizes = (1 << power for power in range(_MOST_AT_ONCE.bit_length()))
    return {size: statement.replace("/* hashes */", ",".join("?" * size)) for size in sizes}


def look_up(
    db: SqliteSession, statements: Mapping[int, str], first: object, hashes: list[bytes]
) -> list[Row]:
    """Return the rows of many keys; `first` is what the statement takes before them."""
    rows: list[Row] = []
    for start in range(0, len(hashes), _MOST_AT_ONCE):
        part = hashes[start : start + _MOST_AT_ONCE]
        size = 1 << (len(part) - 1).bit_length()
        padding = part[-1:] * (size - len(part))
        rows += db.execute(statements[size], (first, *part, *padding)).fetchall()
    return rows
