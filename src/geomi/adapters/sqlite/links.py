"""New URLs: the unique key decides what is new, and a queue knows how many it holds.

Look-ups come before inserts, many at once: most links of a page are known, and a known URL then
costs no write. A URL found again nearer to the seeds moves up while it is pending. A completed page
found nearer is opened again with its outcome, because the depth limit may have cut its links off;
it is read from the archive and counts for nothing.
"""

from __future__ import annotations

import sqlite3
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, repeat

from geomi.adapters.ledger.budget import Rooms
from geomi.adapters.ledger.finds import Finds
from geomi.adapters.ledger.rows import Row, found_columns
from geomi.adapters.statements import statements
from geomi.model.entry import Discovered, Target

SQL = statements("sqlite", "links")
HOSTS = statements("sqlite", "hosts")

ANY_DEPTH = sys.maxsize

_MOST_AT_ONCE = 256
_NOVEL = {
    size: SQL["novel"].replace("/* asked */", ",".join(f"({place},?,?,?)" for place in range(size)))
    for size in (1 << power for power in range(_MOST_AT_ONCE.bit_length()))
}

LeftOut = list[tuple[int, str, Discovered]]  # job, limit, URL

Place = tuple[int, str]  # job and host
Find = tuple[int, Discovered, float]  # queue, URL, and when it was found


def insert_finds(
    db: sqlite3.Connection, finds: Finds, rooms: Mapping[int, Rooms] = {}
) -> tuple[int, LeftOut]:
    """Write what is new of what was found; return how much that was, and what had no room.

    Args:
        rooms: how much may wait, of jobs that are near one of their limits.
    """
    queues = {place: _open_queue(db, *place) for place in finds.by_queue}
    jobs = {queues[place]: place[0] for place in queues}
    all_found = [
        (queues[place], url, found_s)
        for place, found in finds.by_queue.items()
        for url, found_s in found.values()
    ]
    new, nearer = _sort_out(db, all_found)
    new, left_out = _with_room(new, jobs, rooms) if rooms else (new, [])
    if new:
        db.executemany(SQL["insert"], [found_columns(*find) for find in new])
        _count_new(db, jobs, new)
    for queue, rows in nearer.items():
        _approach(db, jobs[queue], queue, rows)
    return len(new), left_out


def find_queue(db: sqlite3.Connection, job: int, host: str) -> int | None:
    """Return the number of a queue that is there."""
    row = db.execute(SQL["queue"], (host, job)).fetchone()
    return row[0] if row else None


def new_among(db: sqlite3.Connection, queue: int, hashes: Sequence[bytes]) -> set[bytes]:
    """Return which of some URLs a queue does not have yet."""
    rows = _novel(db, [(queue, url_hash, ANY_DEPTH) for url_hash in hashes])
    return {hashes[place] for place, _ in rows}


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


def _sort_out(
    db: sqlite3.Connection, all_found: list[Find]
) -> tuple[list[Find], dict[int, list[Row]]]:
    """Return new URLs, and by queue what changes of those that were found nearer."""
    new: list[Find] = []
    nearer: dict[int, list[Row]] = {}
    asked = [(queue, url.url_hash, url.depth) for queue, url, _ in all_found]
    for place, is_new in _novel(db, asked):
        queue, url, _ = all_found[place]
        if is_new:
            new.append(all_found[place])
        else:
            row = (url.depth, url.priority, queue, url.url_hash)
            nearer.setdefault(queue, []).append(row)
    return new, nearer


def _with_room(
    new: list[Find], jobs: Mapping[int, int], rooms: Mapping[int, Rooms]
) -> tuple[list[Find], LeftOut]:
    """Return what may wait too, and what is kept out, by which limit."""
    kept: list[Find] = []
    left_out: LeftOut = []
    for find in new:
        job, url = jobs[find[0]], find[1]
        limit = rooms[job].take(url) if job in rooms else ""
        if limit:
            left_out.append((job, limit, url))
        else:
            kept.append(find)
    return kept, left_out


def _count_new(db: sqlite3.Connection, jobs: Mapping[int, int], new: list[Find]) -> None:
    """Let queues and jobs know what waits now."""
    found_s: dict[int, float] = {}
    for queue, _, at_s in new:
        found_s[queue] = min(at_s, found_s.get(queue, at_s))
    many = Counter(queue for queue, *_ in new)
    db.executemany(SQL["grow"], [(many[queue], at_s, queue) for queue, at_s in found_s.items()])
    of_jobs: Counter[int] = Counter()
    for queue, count in many.items():
        of_jobs[jobs[queue]] += count
    db.executemany(SQL["count"], [(count, job) for job, count in of_jobs.items()])


def _approach(db: sqlite3.Connection, job: int, queue: int, nearer: list[Row]) -> None:
    db.executemany(SQL["approach"], nearer)
    _count_reopened(db, job, queue, db.executemany(SQL["reopen"], nearer).rowcount)


def _count_reopened(db: sqlite3.Connection, job: int, queue: int, reopened: int) -> None:
    if reopened:
        db.execute(SQL["regrow"], {"queue": queue, "reopened": reopened})
        db.execute(SQL["recount"], {"job": job, "reopened": reopened})


def _novel(db: sqlite3.Connection, asked: Sequence[Row]) -> Iterator[tuple[int, bool]]:
    """Yield the places of URLs that are not there, or farther away; each with whether it is new.

    Many at once, in statements of few different sizes: each size is prepared once. Most links are
    known, and what is known is not even answered.
    """
    for start in range(0, len(asked), _MOST_AT_ONCE):
        part = asked[start : start + _MOST_AT_ONCE]
        size = 1 << (len(part) - 1).bit_length()
        padding = repeat(part[-1], size - len(part))
        values = tuple(chain.from_iterable(chain(part, padding)))
        for place, is_new in db.execute(_NOVEL[size], values).fetchall():
            if place < len(part):
                yield start + place, bool(is_new)
