"""New URLs: the unique key decides what is new, and a queue knows how many it holds.

Look-ups come before inserts, many at once: most links of a page are known, and a known URL then
costs no write. A URL found again nearer to the seeds moves up while it is pending. A completed page
found nearer is opened again with its outcome, because the depth limit may have cut its links off;
it is read from the archive and counts for nothing.

Others add and visit the same URLs meanwhile. New keys are written first, in one order; rows that
are there already are locked after that, in one order: so nobody waits in a ring.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping

from geomi.adapters.store.accounting.budget import QueueRoom
from geomi.adapters.store.accounting.counters import FoundUrls
from geomi.adapters.store.postgres.hosts import SQL as HOSTS
from geomi.adapters.store.postgres.hosts import lock_queues
from geomi.adapters.store.postgres.session import PostgresSession, columns
from geomi.adapters.store.rows import Row, found_columns
from geomi.adapters.store.session import TransactionClash
from geomi.adapters.store.statements import statements
from geomi.model.entry import Discovered, Target
from geomi.model.verdict import Exclusion

SQL = statements("store.postgres", "links")

# An entry's and a page's number: the transaction's, then its place in it. No batch is as long.
PLACES = 1 << 20

Key = tuple[int, bytes]  # queue and URL

_ENTRY = (
    "queue", "url_hash", "url", "depth", "priority", "source", "kind", "parent", "origin", "hops",
    "nesting", "pattern", "lastmod_s", "discovered_s", "seq",
)  # fmt: skip
_NEARER = ("queues", "hashes", "depths", "priorities")


class LinkBatch:
    """What was found in one transaction, on its way into the frontier.

    `insert`, then `approach` once every row that changes is locked, then `grow` once the queues
    are; `new` and `reopened` count by queue.
    """

    def __init__(self, db: PostgresSession, finds: FoundUrls) -> None:
        self._db = db
        self.queues = open_queues(db, finds.by_queue)
        self.jobs = {queue: job for (job, _), queue in self.queues.items()}
        self.new: Counter[int] = Counter()
        self.reopened: Counter[int] = Counter()
        self._found = {
            (self.queues[place], url_hash): one
            for place, found in finds.by_queue.items()
            for url_hash, one in found.items()
        }
        self.refused: list[tuple[int, str, Discovered]] = []  # job, limit, URL
        self._nearer: list[Key] = []
        self.novel = self._novel(list(self._found))
        self._found_s: dict[int, float] = {}

    def insert(self, turn: int, rooms: Mapping[int, QueueRoom] = {}) -> list[Key]:
        """Write what is new; return what is there already, and has to be locked to come nearer.

        Args:
            rooms: how much may wait, of jobs that are near one of their limits.
        """
        new = []
        for place, key in enumerate(self.novel):
            queue, (url, found_s) = key[0], self._found[key]
            if self._has_room(queue, url, rooms):
                new.append((*_columns(found_columns(queue, url, found_s)), turn * PLACES + place))
                self._found_s[queue] = min(found_s, self._found_s.get(queue, found_s))
        if new:
            new.sort(key=lambda row: row[:2])
            self.new.update(dict(self._db.rows(SQL["insert"], columns(new, _ENTRY))))
            if self.new.total() < len(new):  # another process was faster with some
                self._novel(list(self.novel))
        return self._nearer

    def added(self) -> dict[Target, Key]:
        """Return the keys of what was not there before."""
        found = {key: self._found[key][0] for key in self.novel}
        return {(url.host, url.url_hash): key for key, url in found.items()}

    def left_out(self) -> list[tuple[int, tuple[Exclusion, ...]]]:
        """Return what had no room, as what a rule kept out of each job."""
        return [(job, (Exclusion(limit, url.url),)) for job, limit, url in self.refused]

    def approach(self) -> None:
        """Let URLs come nearer that were found again; their rows are locked."""
        if self._nearer:
            rows = [
                (*key, self._found[key][0].depth, self._found[key][0].priority)
                for key in self._nearer
            ]
            values = columns(rows, _NEARER)
            self._db.send(SQL["approach"], values)
            self.reopened.update(queue for (queue,) in self._db.rows(SQL["reopen"], values))

    def grow(self) -> None:
        """Let queues know what waits in them; they are locked."""
        rows = [(queue, many, float(self._found_s[queue])) for queue, many in self.new.items()]
        if rows:
            self._db.send(SQL["grow"], columns(rows, ("queues", "new", "found_s")))
        regrow(self._db, self.reopened)

    def _novel(self, keys: list[Key]) -> dict[Key, None]:
        """Return the keys that are not there, in their order; note those that are farther away."""
        novel: dict[Key, None] = {}
        asked = [(*key, self._found[key][0].depth) for key in keys]
        if not asked:
            return novel
        values = columns(asked, ("queues", "hashes", "depths"))
        for place, is_new in self._db.rows(SQL["novel"], values):
            if is_new:
                novel[keys[place - 1]] = None
            else:
                self._nearer.append(keys[place - 1])
        return novel

    def _has_room(self, queue: int, url: Discovered, rooms: Mapping[int, QueueRoom]) -> bool:
        job = self.jobs[queue]
        limit = rooms[job].take(url) if job in rooms else ""
        if limit:
            self.refused.append((job, limit, url))
        return not limit


def add(db: PostgresSession, links: LinkBatch) -> int:
    """Put what was found into the frontier; return how much of it was new."""
    lock_entries(db, links.insert(next_turn(db)))
    links.approach()
    lock_queues(db, links.new.keys() | links.reopened.keys())
    links.grow()
    new, reopened = Counter[int](), Counter[int]()
    for queue, job in links.jobs.items():
        new[job] += links.new[queue]
        reopened[job] += links.reopened[queue]
    for job in sorted(new):
        _count(db, job, new=new[job], reopened=reopened[job])
    return links.new.total()


def reopen(db: PostgresSession, job: int) -> int:
    """Let the links of every page that a job has kept be followed anew; return how many pages."""
    reopened: Counter[int] = Counter(dict(db.rows(SQL["reopen_all"], {"job": job})))
    lock_queues(db, reopened)
    regrow(db, reopened)
    _count(db, job, new=0, reopened=reopened.total())
    return reopened.total()


def find_queues(
    db: PostgresSession, places: Collection[tuple[int, str]]
) -> dict[tuple[int, str], int]:
    """Return the numbers of queues that are there, by job and host."""
    if not places:
        return {}
    rows = db.rows(SQL["queues"], columns(list(places), ("jobs", "hosts")))
    return {(job, host): number for job, host, number in rows}


def open_queues(
    db: PostgresSession, places: Collection[tuple[int, str]]
) -> dict[tuple[int, str], int]:
    """Return the numbers of queues by job and host, and open those that are not there."""
    queues = find_queues(db, places)
    missing = [place for place in places if place not in queues]
    if missing:
        db.send(HOSTS["meet"], {"hosts": sorted({host for _, host in missing})})
        db.send(SQL["new_queues"], columns(missing, ("jobs", "hosts")))
        queues |= find_queues(db, missing)
    return queues


def next_turn(db: PostgresSession) -> int:
    """Return this transaction's number in the order of all that add something."""
    return int(db.value(SQL["turn"]))


def lock_entries(db: PostgresSession, keys: Iterable[Key]) -> None:
    """Keep entries for this transaction; all at once, because that keeps their order."""
    if rows := sorted(set(keys)):
        db.send(SQL["lock_entries"], columns(rows, ("queues", "hashes")))


def regrow(db: PostgresSession, reopened: Mapping[int, int]) -> None:
    """Let queues know how many of their pages were opened again; they are locked."""
    rows = [(queue, many) for queue, many in reopened.items() if many]
    if rows:
        db.send(SQL["regrow"], columns(rows, ("queues", "reopened")))


def _count(db: PostgresSession, job: int, *, new: int, reopened: int) -> None:
    if db.run(SQL["count"], {"job": job, "new": new, "reopened": reopened}) == 0:
        raise TransactionClash(f"job {job} was deleted meanwhile")


def _columns(row: Row) -> Row:
    """Write a find; arrays hold numbers of one kind."""
    *left, lastmod_s, found_s = row
    return (*left, None if lastmod_s is None else float(lastmod_s), float(found_s))
