"""Which bytes of the archive the store counts on, and what becomes of captures that are lost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from operator import itemgetter

from geomi.adapters.store.rows import Row, encode
from geomi.adapters.store.session import OwnedTable, Session
from geomi.adapters.store.statements import table_statements
from geomi.adapters.store.tables.pages import forget_copies, rewind
from geomi.adapters.store.tables.quotas import store_bytes
from geomi.model.verdict import Outcome, State

SQL = table_statements("segments")


class SegmentTable(OwnedTable):
    """`ports.store.Segments` of one tenant."""

    async def ends(self, worker: str) -> Mapping[str, int]:
        """Return where the last committed capture of each of a worker's segments ends."""
        values = {"worker": worker}
        return dict(await self._database.read(lambda db: db.rows(SQL["ends"], values)))

    async def job_ends(self, job: str) -> Mapping[str, int]:
        """Return the same for every segment of a job."""
        values = {"job": job, "tenant": self._tenant}
        return dict(await self._database.read(lambda db: db.rows(SQL["job_ends"], values)))

    async def requeue(self, segments: Sequence[str]) -> int:
        """Forget the captures in lost segments; their URLs wait again."""
        return await self._database.write(lambda db: _requeue(db, segments))


def _requeue(db: Session, segments: Sequence[str]) -> int:
    """Take back what settling some pages has written; their requests and bytes stay counted.

    Each table is changed in the order in which all transactions lock its rows.
    """
    rows = db.rows(SQL["captures"], {"segments": encode(tuple(segments))})
    lost = {tenant: [row[1:] for row in own] for tenant, own in groupby(rows, itemgetter(0))}
    ended = _reopen(db, [row[1:] for row in rows])
    for tenant, captures in lost.items():
        forget_copies(db, tenant, [capture[1:] for capture in captures])
    _take_back(db, ended)
    rewind(db, {row[1] for row in rows})
    for tenant, size_bytes in [(one, _forget(db, own)) for one, own in lost.items()]:
        store_bytes(db, tenant, -size_bytes)
    return len(rows)


def _reopen(db: Session, captures: Iterable[Row]) -> list[Row]:
    """Let the entries of captures wait again; return the job, the queue and the end of each."""
    asked = [{"job": job, "url_hash": url_hash} for job, _, url_hash, *_ in captures]
    places = {tuple(place): job for *place, job in db.rows_of_each(SQL["queue"], asked)}
    keys = [{"queue": queue, "url_hash": url_hash} for queue, url_hash in sorted(places)]
    entries = db.rows_of_each(SQL["entry"], keys)
    waiting = [{"queue": queue, "url_hash": url_hash} for queue, url_hash, *_ in entries]
    db.run_each(SQL["reopen"], waiting)
    return [(places[queue, url_hash], queue, *end) for queue, url_hash, *end in entries]


def _take_back(db: Session, ended: Iterable[Row]) -> None:
    """Count entries that wait again in their queues and their jobs."""
    queues: dict[int, dict[str, int]] = {}
    jobs: dict[int, dict[str, int]] = {}
    for job, queue, outcome, state in ended:
        waits = queues.setdefault(queue, {"queue": queue, "completed": 0})
        kept = jobs.setdefault(job, {"job": job, "completed": 0, "kept": 0, "duplicates": 0})
        waits["completed"] += state == State.COMPLETED
        kept["completed"] += state == State.COMPLETED
        kept["duplicates"] += outcome == Outcome.DUPLICATE
        kept["kept"] += 1
    db.run_each(SQL["grow"], [queues[queue] for queue in sorted(queues)])
    db.run_each(SQL["uncount"], [jobs[job] for job in sorted(jobs)])


def _forget(db: Session, captures: Iterable[Row]) -> int:
    """Forget captures; return how many bytes they take."""
    keys = [{"job": job, "seq": seq} for job, seq, *_ in captures]
    return sum(size_bytes for (size_bytes,) in db.rows_of_each(SQL["forget_capture"], keys))
