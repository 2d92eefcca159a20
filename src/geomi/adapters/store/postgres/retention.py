"""What of one tenant is kept for a time only, forgotten a little at a time."""

from __future__ import annotations

from functools import partial

from geomi.adapters.store.keys import band_keys
from geomi.adapters.store.postgres.connection import PostgresDatabase
from geomi.adapters.store.postgres.jobs import SQL as JOBS
from geomi.adapters.store.postgres.quotas import give_back
from geomi.adapters.store.postgres.session import PostgresSession, columns
from geomi.adapters.store.postgres.settle import lose_bands
from geomi.adapters.store.statements import statements
from geomi.model.job import Expired
from geomi.ports.jobs import RetentionStep

SQL = statements("store.postgres", "retention")


class PostgresRetention:
    """`ports.retention.Retention` of one tenant."""

    def __init__(self, database: PostgresDatabase, tenant: str) -> None:
        self._database = database
        self._tenant = tenant

    async def due(self, *, wall_s: float, limit: int) -> list[tuple[str, Expired]]:
        """Name jobs that have something to lose, and what."""
        return await self._database.read(
            partial(_due, tenant=self._tenant, wall_s=wall_s, limit=limit)
        )

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


def _due(
    db: PostgresSession, *, tenant: str, wall_s: float, limit: int | None
) -> list[tuple[str, Expired]]:
    values = {"tenant": tenant, "wall_s": wall_s, "many": limit}
    return [(job, Expired(what)) for job, what in db.rows(SQL["due"], values)]


def _begin(db: PostgresSession, *, tenant: str, job: str, what: Expired, wall_s: float) -> bool:
    # Whoever lets the job go on is waited for, and has then written what is read next.
    row = db.row(JOBS["lock"], {"job": job, "tenant": tenant})
    if row is None or (job, what) not in _due(db, tenant=tenant, wall_s=wall_s, limit=None):
        return False
    return db.run(SQL["mark"], {"expired": what.value, "number": row[0]}) == 1


def _forget_urls(db: PostgresSession, *, tenant: str, job: str, limit: int) -> int:
    number, left = _going(db, tenant, job), limit
    while number is not None and left > 0:
        found = db.row(SQL["queue"], {"number": number})
        if found is None:
            db.send(SQL["no_urls"], {"number": number})
            break
        queue = {"queue": found[0]}
        gone = db.run(SQL["forget_entries"], queue | {"many": left})
        if gone < left:
            for name in ("forget_patterns", "forget_queue"):
                db.send(SQL[name], queue)
        left -= max(gone, 1)  # an empty queue is work, too
    return limit - left


def _forget_pages(
    db: PostgresSession, *, tenant: str, job: str, after: int, limit: int
) -> RetentionStep:
    values = {"number": _going(db, tenant, job), "after": after, "many": limit}
    rows = db.rows(SQL["captures"], values)
    if not rows:
        return RetentionStep(0, 0)
    places = sorted(row[1:] for row in rows)  # in the order in which all lock them
    copies = columns(places, ("hashes", "segments", "offsets"))
    pages = db.rows(SQL["forget_pages"], copies | {"tenant": tenant})
    gone = {"tenant": tenant, "hashes": [url_hash for url_hash, *_ in pages]}
    for name in ("forget_histories", "forget_versions"):
        db.send(SQL[name], gone)
    lose_bands(
        db,
        [(band, number) for _, number, *known in pages for band in band_keys(tenant, *known)],
    )
    return RetentionStep(rows[-1][0], len(pages))


def _forget_captures(db: PostgresSession, *, tenant: str, job: str, limit: int) -> int:
    values = {"number": _going(db, tenant, job), "many": limit}
    gone = [size_bytes for (size_bytes,) in db.rows(SQL["forget_captures"], values)]
    give_back(db, {tenant: sum(gone)})
    return len(gone)


def _forget_requests(
    db: PostgresSession, *, tenant: str, job: str, after: int, limit: int
) -> RetentionStep:
    stretch = {"after": after, "many": limit}
    last = db.value(SQL["last_request"], stretch)
    if last is None or _going(db, tenant, job) is None:
        return RetentionStep(0, 0)
    return RetentionStep(last, db.run(SQL["forget_requests"], stretch | {"last": last, "job": job}))


def _going(db: PostgresSession, tenant: str, job: str) -> int | None:
    """Return the number of a job of which something is going; of no other is anything forgotten."""
    row = db.row(SQL["going"], {"job": job, "tenant": tenant})
    return row[0] if row else None
