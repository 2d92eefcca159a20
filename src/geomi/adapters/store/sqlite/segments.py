"""Which bytes of the archive the store counts on, and what becomes of captures that are lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from geomi.adapters.store.keys import band_keys
from geomi.adapters.store.sqlite.connection import SqliteDatabase, SqliteSession
from geomi.adapters.store.statements import statements
from geomi.adapters.store.tables.quotas import store_bytes

SQL = statements("store.sqlite", "segments")


class SqliteSegments:
    """`ports.store.Segments` of one tenant."""

    def __init__(self, database: SqliteDatabase, tenant: str) -> None:
        self._database = database
        self._tenant = tenant

    async def ends(self, worker: str) -> Mapping[str, int]:
        """Return where the last committed capture of each of a worker's segments ends."""
        with self._database.reading() as db:
            return dict(db.execute(SQL["ends"], {"worker": worker}).fetchall())

    async def job_ends(self, job: str) -> Mapping[str, int]:
        """Return the same for every segment of a job."""
        with self._database.reading() as db:
            values = {"job": job, "tenant": self._tenant}
            return dict(db.execute(SQL["job_ends"], values).fetchall())

    async def requeue(self, segments: Sequence[str]) -> int:
        """Forget the captures in lost segments; their URLs wait again."""
        return await self._database.write(partial(_requeue, segments=tuple(segments)))


def _requeue(db: SqliteSession, *, segments: Sequence[str]) -> int:
    lost = 0
    for segment in segments:
        rows = db.execute(SQL["captures"], {"segment": segment}).fetchall()
        for capture, job, url_hash in rows:
            _reopen(db, capture, job, url_hash)
        for job in {row[1] for row in rows}:
            db.execute(SQL["rewind"], {"job": job})
        lost += len(rows)
    return lost


def _reopen(db: SqliteSession, capture: int, job: int, url_hash: bytes) -> None:
    """Take back what settling one page has written; its requests and bytes stay counted."""
    values = {"capture": capture, "job": job, "url_hash": url_hash}
    entry = db.execute(SQL["entry"], values).fetchone()
    if entry is not None:
        seq, queue, outcome, state = entry
        completed = int(state == "completed")
        db.execute(SQL["reopen"], {"seq": seq})
        db.execute(SQL["grow"], {"queue": queue, "completed": completed})
        duplicate = int(outcome == "duplicate")
        db.execute(SQL["uncount"], values | {"completed": completed, "duplicate": duplicate})
    for tenant, number, *known in db.execute(SQL["forget_page"], values).fetchall():
        bands = band_keys(tenant, *known)
        db.executemany(SQL["forget_band"], ((band, number) for band in bands))
    for tenant, size_bytes in db.execute(SQL["forget_capture"], values).fetchall():
        store_bytes(db, tenant, -size_bytes)
