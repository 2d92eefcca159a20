"""New URLs: the unique key decides what is new, and a queue knows how many it holds.

Look-ups come before inserts, many at once: most links of a page are known, and a known URL then
costs no write. A URL found again nearer to the seeds moves up while it is pending. A completed page
found nearer is opened again with its outcome, because the depth limit may have cut its links off;
it is read from the archive and counts for nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, repeat

from geomi.adapters.store.accounting.budget import QueueRoom
from geomi.adapters.store.accounting.counters import FoundUrls
from geomi.adapters.store.rows import Row, found_columns
from geomi.adapters.store.sqlite.connection import SqliteSession
from geomi.adapters.store.statements import statements
from geomi.model.entry import Discovered, Target

SQL = statements("store.sqlite", "links")
HOSTS = statements("store.sqlite", "hosts")

LeftOut = list[tuple[int, str, Discovered]]  # job, limit, URL
Find = tuple[int, Discovered, float]  # queue, URL, and when it was found

_MOST_AT_ONCE = 256


def _sizes(statement: str) -> dict[int, str]:
    """Write a statement for few different numbers of URLs: each is prepared once."""
    return {
        size: statement.replace("/* asked */", ",".join(f"({n},?,?,?)" for n in range(size)))
        for size in (1 << power for power in range(_MOST_AT_ONCE.bit_length()))
    }


_NOVEL, _ABSENT = _sizes(SQL["novel"]), _sizes(SQL["absent"])


def insert_finds(
    db: SqliteSession, finds: FoundUrls, rooms: Mapping[int, QueueRoom] = {}
) -> tuple[int, LeftOut]:
    """Write what is new of what was found; return how much that was, and what had no room.

    Args:
        rooms: how much may wait, of jobs that are near one of their limits.
    """
    queues = {place: _open_queue(db, *place) for place in finds.by_queue}
    jobs = {queue: job for (job, _), (queue, _) in queues.items()}
    all_found = [
        (queues[place][0], url, found_s)
        for place, found in finds.by_queue.items()
        for url, found_s in found.values()
    ]
    new, nearer = _sort_out(db, all_found, dict(queues.values()))
    new, left_out = _with_room(new, jobs, rooms) if rooms else (new, [])
    if new:
        db.executemany(SQL["insert"], [found_columns(*find) for find in new])
        _count_new(db, jobs, new)
    for queue, rows in nearer.items():
        _approach(db, jobs[queue], queue, rows)
    return len(new), left_out


def find_queue(db: SqliteSession, job: int, host: str) -> int | None:
    """Return the number of a queue that is there."""
    row = db.execute(SQL["queue"], (host, job)).fetchone()
    return row[0] if row else None


def new_among(db: SqliteSession, queue: int, hashes: Sequence[bytes]) -> set[bytes]:
    """Return which of some URLs a queue does not have yet."""
    asked = [(queue, url_hash, 0) for url_hash in hashes]
    return {hashes[place] for place, _ in _answers(db, _ABSENT, asked)}


def new_targets(db: SqliteSession, finds: FoundUrls) -> list[Target]:
    """Return which of some finds are not there yet."""
    targets: list[Target] = []
    for (job, host), found in finds.by_queue.items():
        queue = find_queue(db, job, host)
        new = set(found) if queue is None else new_among(db, queue, list(found))
        targets += [(host, url_hash) for url_hash in found if url_hash in new]
    return targets


def reopen(db: SqliteSession, job: int) -> int:
    """Let the links of every page that a job has kept be followed anew; return how many pages."""
    total = 0
    for (queue,) in db.execute(SQL["queues"], (job,)).fetchall():
        reopened = db.execute(SQL["reopen_all"], (queue,)).rowcount
        _count_reopened(db, job, queue, reopened)
        total += reopened
    return total


def _open_queue(db: SqliteSession, job: int, host: str) -> tuple[int, int]:
    """Return the number of a queue, which is opened if need be, and how deep its URLs may lie."""
    row = db.execute(SQL["queue"], (host, job)).fetchone()
    if row is not None:
        return row[0], row[1]
    db.execute(HOSTS["meet"], (host,))
    queue = db.execute(SQL["new_queue"], (host, job)).lastrowid
    assert queue is not None
    return queue, 0


def _sort_out(
    db: SqliteSession, all_found: list[Find], deepest: Mapping[int, int]
) -> tuple[list[Find], dict[int, list[Row]]]:
    """Return new URLs, and by queue what changes of those that were found nearer."""
    asked = [(queue, url.url_hash, url.depth) for queue, url, _ in all_found]
    deep = [place for place, (queue, _, depth) in enumerate(asked) if depth >= deepest[queue]]
    shallow = [place for place, (queue, _, depth) in enumerate(asked) if depth < deepest[queue]]
    new = [deep[at] for at, _ in _answers(db, _ABSENT, [asked[place] for place in deep])]
    nearer: dict[int, list[Row]] = {}
    for at, is_new in _answers(db, _NOVEL, [asked[place] for place in shallow]):
        queue, url, _ = all_found[shallow[at]]
        if is_new:
            new.append(shallow[at])
        else:
            row = (url.depth, url.priority, queue, url.url_hash)
            nearer.setdefault(queue, []).append(row)
    return [all_found[place] for place in sorted(new)], nearer


def _with_room(
    new: list[Find], jobs: Mapping[int, int], rooms: Mapping[int, QueueRoom]
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


def _count_new(db: SqliteSession, jobs: Mapping[int, int], new: list[Find]) -> None:
    """Let queues and jobs know what waits now."""
    found_s: dict[int, float] = {}
    deepest: dict[int, int] = {}
    for queue, url, at_s in new:
        found_s[queue] = min(at_s, found_s.get(queue, at_s))
        deepest[queue] = max(url.depth, deepest.get(queue, 0))
    many = Counter(queue for queue, *_ in new)
    rows = [(many[queue], at_s, queue, deepest[queue]) for queue, at_s in found_s.items()]
    db.executemany(SQL["grow"], rows)
    of_jobs: Counter[int] = Counter()
    for queue, count in many.items():
        of_jobs[jobs[queue]] += count
    db.executemany(SQL["count"], [(count, job) for job, count in of_jobs.items()])


def _approach(db: SqliteSession, job: int, queue: int, nearer: list[Row]) -> None:
    db.executemany(SQL["approach"], nearer)
    _count_reopened(db, job, queue, db.executemany(SQL["reopen"], nearer).rowcount)


def _count_reopened(db: SqliteSession, job: int, queue: int, reopened: int) -> None:
    if reopened:
        db.execute(SQL["regrow"], {"queue": queue, "reopened": reopened})
        db.execute(SQL["recount"], {"job": job, "reopened": reopened})


def _answers(
    db: SqliteSession, statements: Mapping[int, str], asked: Sequence[Row]
) -> Iterator[tuple[int, bool]]:
    """Yield the places of URLs that are not there, or farther away; each with whether it is new.

    Many at once, and what is known is not even answered: most links of a page are.
    """
    for start in range(0, len(asked), _MOST_AT_ONCE):
        part = asked[start : start + _MOST_AT_ONCE]
        size = 1 << (len(part) - 1).bit_length()
        padding = repeat(part[-1], size - len(part))
        values = tuple(chain.from_iterable(chain(part, padding)))
        for place, is_new in db.execute(statements[size], values).fetchall():
            if place < len(part):
                yield start + place, bool(is_new)
