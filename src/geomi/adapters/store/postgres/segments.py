"""Which bytes of the archive the store counts on, and what becomes of captures that are lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial

from geomi.adapters.store.keys import band_keys
from geomi.adapters.store.postgres.connection import PostgresDatabase
from geomi.adapters.store.postgres.hosts import lock_queues
from geomi.adapters.store.postgres.session import PostgresSession, columns
from geomi.adapters.store.postgres.settle import lose_bands
from geomi.adapters.store.rows import Row
from geomi.adapters.store.statements import statements
from geomi.adapters.store.tables.quotas import store_bytes

SQL = statements("store.postgres", "segments")


class PostgresSegments:
    """`ports.store.Segments` of one tenant."""

    def __init__(self, database: PostgresDatabase, tenant: str) -> None:
        self._database = database
        self._tenant = tenant

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
        return await self._database.write(partial(_requeue, segments=list(segments)))


def _requeue(db: PostgresSession, *, segments: list[str]) -> int:
    """Take back what settling some pages has written; their requests and bytes stay counted."""
    lost = db.rows(SQL["captures"], {"segments": segments})
    if not lost:
        return 0
    jobs = sorted({job for _, job, *_ in lost})
    entries = db.rows(SQL["entries"], columns([row[1:3] for row in lost], ("jobs", "hashes")))
    # An entry whose page was captured twice is taken back once.
    entries = list(dict.fromkeys(entries))
    if entries:
        db.run(SQL["reopen"], columns([row[1:3] for row in entries], ("queues", "hashes")))
    places = [row[1:] for row in lost]
    forgotten = db.rows(
        SQL["forget_pages"], columns(places, ("jobs", "hashes", "segments", "offsets"))
    )
    lose_bands(db, [(band, row[1]) for row in forgotten for band in band_keys(row[0], *row[2:])])
    _grow(db, entries)
    for job in jobs:
        _uncount(db, job, [row for row in entries if row[0] == job])
    db.run(SQL["rewind"], {"jobs": jobs})
    captures = columns([(row[1], row[0]) for row in lost], ("jobs", "seqs"))
    gone: Counter[str] = Counter()
    for tenant, size_bytes in db.rows(SQL["forget_captures"], captures):
        gone[tenant] += size_bytes
    for tenant, size_bytes in sorted(gone.items()):
        store_bytes(db, tenant, -size_bytes)
    return len(lost)


def _grow(db: PostgresSession, entries: Sequence[Row]) -> None:
    """Let queues know what waits in them again."""
    many = {queue: 0 for _, queue, *_ in entries}
    many |= Counter(queue for _, queue, _, _, state in entries if state == "completed")
    if many:
        lock_queues(db, many)
        db.run(SQL["grow"], columns(list(many.items()), ("queues", "many")))


def _uncount(db: PostgresSession, job: int, entries: Sequence[Row]) -> None:
    values = {
        "job": job,
        "kept": len(entries),
        "completed": sum(state == "completed" for *_, state in entries),
        "duplicates": sum(outcome == "duplicate" for *_, outcome, _ in entries),
    }
    db.run(SQL["uncount"], values)
