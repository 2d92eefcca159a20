"""New URLs: the unique key decides what is new, and a queue knows how many it holds.

Look-ups come before inserts, many at once: most links of a page are known, and a known URL then
costs no write. A URL found again nearer to the seeds moves up while it is pending. A completed page
found nearer is opened again with its outcome, because the depth limit may have cut its links off;
it is read from the archive and counts for nothing.
"""

from __future__ import annotations

import sqlite3

from geomi.adapters.ledger.finds import Finds, Found
from geomi.adapters.ledger.rows import Row, found_columns
from geomi.adapters.statements import statements

SQL = statements("sqlite", "links")
HOSTS = statements("sqlite", "hosts")

_MOST_AT_ONCE = 256
_KNOWN = {
    size: SQL["known"].replace("/* hashes */", ",".join("?" * size))
    for size in (1 << power for power in range(_MOST_AT_ONCE.bit_length()))
}


def insert_finds(db: sqlite3.Connection, finds: Finds) -> int:
    """Write what is new of what was found; return how much that was."""
    total = 0
    for (job, host), found in finds.by_queue.items():
        queue = _open_queue(db, job, host)
        new, nearer = _sort_out(db, queue, found)
        if new:
            db.executemany(SQL["insert"], new)
            found_s = min(row[-1] for row in new)
            db.execute(SQL["grow"], {"queue": queue, "new": len(new), "now_s": found_s})
            db.execute(SQL["count"], {"job": job, "new": len(new)})
        if nearer:
            _approach(db, job, queue, nearer)
        total += len(new)
    return total


def find_queue(db: sqlite3.Connection, job: int, host: str) -> int | None:
    """Return the number of a queue that is there."""
    row = db.execute(SQL["queue"], (host, job)).fetchone()
    return row[0] if row else None


def new_among(db: sqlite3.Connection, queue: int, hashes: list[bytes]) -> set[bytes]:
    """Return which of some URLs a queue does not have yet."""
    return set(hashes).difference(_known(db, queue, hashes))


def reopen(db: sqlite3.Connection, job: int) -> int:
    """Let the links of every page that a job has kept be followed anew; return how many pages."""
    total = 0
    for (queue,) in db.execute(SQL["queues"], (job,)).fetchall():
        reopened = db.execute(SQL["reopen_all"], (queue,)).rowcount
        _count_reopened(db, job, queue, reopened)
        total += reopened
    return total


def _open_queue(db: sqlite3.Connection, job: int, host: str) -> int:
    queue = find_queue(db, job, host)
    if queue is None:
        db.execute(HOSTS["meet"], (host,))
        queue = db.execute(SQL["new_queue"], (host, job)).lastrowid
        assert queue is not None
    return queue


def _sort_out(db: sqlite3.Connection, queue: int, found: Found) -> tuple[list[Row], list[Row]]:
    """Return the rows of new URLs, and what changes of those that were found nearer."""
    known = _known(db, queue, list(found))
    new: list[Row] = []
    nearer: list[Row] = []
    for url_hash, (url, found_s) in found.items():
        depth = known.get(url_hash)
        if depth is None:
            new.append(found_columns(queue, url, found_s))
        elif url.depth < depth:
            nearer.append((url.depth, url.priority, queue, url_hash))
    return new, nearer


def _approach(db: sqlite3.Connection, job: int, queue: int, nearer: list[Row]) -> None:
    db.executemany(SQL["approach"], nearer)
    _count_reopened(db, job, queue, db.executemany(SQL["reopen"], nearer).rowcount)


def _count_reopened(db: sqlite3.Connection, job: int, queue: int, reopened: int) -> None:
    if reopened:
        db.execute(SQL["regrow"], {"queue": queue, "reopened": reopened})
        db.execute(SQL["recount"], {"job": job, "reopened": reopened})


def _known(db: sqlite3.Connection, queue: int, hashes: list[bytes]) -> dict[bytes, int]:
    """Look many URLs up, in statements of few different sizes: each size is prepared once."""
    known: dict[bytes, int] = {}
    for start in range(0, len(hashes), _MOST_AT_ONCE):
        part = hashes[start : start + _MOST_AT_ONCE]
        size = 1 << (len(part) - 1).bit_length()
        padding = part[-1:] * (size - len(part))
        known.update(db.execute(_KNOWN[size], (queue, *part, *padding)))
    return known
