"""What of one tenant is kept for a time only, forgotten a little at a time."""

from __future__ import annotations

from functools import partial

from geomi.adapters.store.keys import band_keys
from geomi.adapters.store.sqlite.connection import SqliteDatabase, SqliteSession
from geomi.adapters.store.sqlite.jobs import find_number
from geomi.adapters.store.sqlite.quotas import store_bytes
from geomi.adapters.store.statements import statements
from geomi.model.job import Expired
from geomi.ports.jobs import RetentionStep

SQL = statements("store.sqlite", "retention")

_EVERY = -1  # SQLite's own word for no limit


class SqliteRetention:
    """`ports.retention.Retention` of one tenant."""

    def __init__(self, database: SqliteDatabase, tenant: str) -> None:
        self._database = database
        self._tenant = tenant

    async def due(self, *, wall_s: float, limit: int) -> list[tuple[str, Expired]]:
        """Name jobs that have something to lose, and what."""
        with self._database.reading() as db:
            return _due(db, self._tenant, wall_s=wall_s, limit=limit)

    async def begin(self, job: str, what: Expired, *, wall_s: float) -> bool:
        """Write down that something is going; False where it is not due any more."""
        return await self._database.write(
            partial(_begin, tenant=self._tenant, job=job, what=what, wall_s=wall_s)
        )

    async def forget_urls(self, job: str, *, limit: int) -> int:
        """Forget some URLs of a job that is going; 0 when all have gone."""
        return await self._database.write(
            partial(_forget_urls, tenant=self._tenant, job=job, limit=limit)
        )

    async def forget_pages(self, job: str, *, after: int, limit: int) -> RetentionStep:
        """Forget pages and histories whose newest copy is in a job that is going."""
        return await self._database.write(
            partial(_forget_pages, tenant=self._tenant, job=job, after=after, limit=limit)
        )

    async def forget_captures(self, job: str, *, limit: int) -> int:
        """Forget some captures of a job that is going."""
        return await self._database.write(
            partial(_forget_captures, tenant=self._tenant, job=job, limit=limit)
        )

    async def forget_requests(self, job: str, *, after: int, limit: int) -> RetentionStep:
        """Look at a part of the request log and forget what is of a job that is going."""
        return await self._database.write(
            partial(_forget_requests, tenant=self._tenant, job=job, after=after, limit=limit)
        )


def _due(db: SqliteSession, tenant: str, *, wall_s: float, limit: int) -> list[tuple[str, Expired]]:
    values = {"tenant": tenant, "wall_s": wall_s, "many": limit}
    return [(job, Expired(what)) for job, what in db.execute(SQL["due"], values)]


def _begin(db: SqliteSession, *, tenant: str, job: str, what: Expired, wall_s: float) -> bool:
    number = find_number(db, job, tenant)
    if (job, what) not in _due(db, tenant, wall_s=wall_s, limit=_EVERY):
        return False
    db.execute(SQL["mark"], {"expired": what.value, "number": number})
    return True


def _forget_urls(db: SqliteSession, *, tenant: str, job: str, limit: int) -> int:
    number, left = _going(db, tenant, job), limit
    while number is not None and left > 0:
        found = db.execute(SQL["queue"], {"number": number}).fetchone()
        if found is None:
            db.execute(SQL["no_urls"], {"number": number})
            break
        queue = {"queue": found[0]}
        gone = db.execute(SQL["forget_entries"], queue | {"many": left}).rowcount
        if gone < left:
            for name in ("forget_patterns", "forget_queue"):
                db.execute(SQL[name], queue)
        left -= max(gone, 1)  # an empty queue is work, too
    return limit - left


def _forget_pages(
    db: SqliteSession, *, tenant: str, job: str, after: int, limit: int
) -> RetentionStep:
    values = {"number": _going(db, tenant, job), "after": after, "many": limit}
    rows = db.execute(SQL["captures"], values).fetchall()
    count = sum(_forget_page(db, tenant, seq, url_hash) for seq, url_hash in rows)
    return RetentionStep(rows[-1][0] if rows else 0, count)


def _forget_page(db: SqliteSession, tenant: str, seq: int, url_hash: bytes) -> bool:
    values = {"tenant": tenant, "url_hash": url_hash, "seq": seq}
    pages = db.execute(SQL["forget_page"], values).fetchall()
    for number, *known in pages:
        bands = band_keys(tenant, *known)
        db.executemany(SQL["forget_band"], ((band, number) for band in bands))
        for name in ("forget_history", "forget_versions"):
            db.execute(SQL[name], values)
    return bool(pages)


def _forget_captures(db: SqliteSession, *, tenant: str, job: str, limit: int) -> int:
    values = {"number": _going(db, tenant, job), "many": limit}
    gone = [size_bytes for (size_bytes,) in db.execute(SQL["forget_captures"], values).fetchall()]
    store_bytes(db, tenant, -sum(gone))
    return len(gone)


def _forget_requests(
    db: SqliteSession, *, tenant: str, job: str, after: int, limit: int
) -> RetentionStep:
    stretch = {"after": after, "many": limit}
    (last,) = db.execute(SQL["last_request"], stretch).fetchone()
    if last is None or _going(db, tenant, job) is None:
        return RetentionStep(0, 0)
    values = stretch | {"last": last, "job": job}
    return RetentionStep(last, db.execute(SQL["forget_requests"], values).rowcount)


def _going(db: SqliteSession, tenant: str, job: str) -> int | None:
    """Return the number of a job of which something is going; of no other is anything forgotten."""
    row = db.execute(SQL["going"], {"job": job, "tenant": tenant}).fetchone()
    return row[0] if row else None
