"""New URLs: the unique key decides what is new, and a queue knows how many it holds.

Look-ups come before inserts, many at once: most links of a page are known, and a known URL then
costs no write. A URL found again nearer to the seeds moves up while it is pending. A completed page
found nearer is opened again with its outcome, because the depth limit may have cut its links off;
it is read from the archive and counts for nothing.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

from geomi.adapters.ledger.budget import Rooms
from geomi.adapters.ledger.finds import Finds, Found
from geomi.adapters.ledger.rows import Row, found_columns
from geomi.adapters.sqlite.look_up import by_size, look_up
from geomi.adapters.statements import statements
from geomi.model.entry import Discovered, Target

SQL = statements("sqlite", "links")
HOSTS = statements("sqlite", "hosts")

_KNOWN = by_size(SQL["known"])

LeftOut = list[tuple[int, str, Discovered]]  # job, limit, URL


def insert_finds(
    db: sqlite3.Connection, finds: Finds, rooms: Mapping[int, Rooms] = {}
) -> tuple[int, LeftOut]:
    """Write what is new of what was found; return how much that was, and what had no room.

    Args:
        rooms: how much may wait, of jobs that are near one of their limits.
    """
    total = 0
    left_out: LeftOut = []
    for (job, host), found in finds.by_queue.items():
        queue = _open_queue(db, job, host)
        new, nearer = _sort_out(db, queue, found)
        if job in rooms:
            new, refused = _with_room(new, found, rooms[job])
            left_out += [(job, limit, url) for limit, url in refused]
        if new:
            db.executemany(SQL["insert"], new)
            found_s = min(row[-1] for row in new)
            db.execute(SQL["grow"], {"queue": queue, "new": len(new), "now_s": found_s})
            db.execute(SQL["count"], {"job": job, "new": len(new)})
        if nearer:
            _approach(db, job, queue, nearer)
        total += len(new)
    return total, left_out


def find_queue(db: sqlite3.Connection, job: int, host: str) -> int | None:
    """Return the number of a queue that is there."""
    row = db.execute(SQL["queue"], (host, job)).fetchone()
    return row[0] if row else None


def new_among(db: sqlite3.Connection, queue: int, hashes: list[bytes]) -> set[bytes]:
    """Return which of some URLs a queue does not have yet."""
    return set(hashes).difference(_known(db, queue, hashes))


def new_targets(db: sqlite3.Connection, finds: Finds) -> list[Target]:
    """Return which of some finds are not there yet."""
    targets: list[Target] = []
    for (job, host), found in finds.by_queue.items():
        queue = find_queue(db, job, host)
        new = set(found) if queue is None else new_among(db, queue, list(found))
        targets += [(host, url_hash) for url_hash in found if url_hash in new]
    return targets


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


def _with_room(
    new: list[Row], found: Found, rooms: Rooms
) -> tuple[list[Row], list[tuple[str, Discovered]]]:
    """Return the rows that may wait too, and the limits that keep out the others."""
    limits = {url_hash: rooms.take(found[url_hash][0]) for _, url_hash, *_ in new}
    refused = [(limit, found[url_hash][0]) for url_hash, limit in limits.items() if limit]
    return [row for row in new if not limits[row[1]]], refused


def _approach(db: sqlite3.Connection, job: int, queue: int, nearer: list[Row]) -> None:
    db.executemany(SQL["approach"], nearer)
    _count_reopened(db, job, queue, db.executemany(SQL["reopen"], nearer).rowcount)


def _count_reopened(db: sqlite3.Connection, job: int, queue: int, reopened: int) -> None:
    if reopened:
        db.execute(SQL["regrow"], {"queue": queue, "reopened": reopened})
        db.execute(SQL["recount"], {"job": job, "reopened": reopened})


def _known(db: sqlite3.Connection, queue: int, hashes: list[bytes]) -> dict[bytes, int]:
    return dict(look_up(db, _KNOWN, queue, hashes))
