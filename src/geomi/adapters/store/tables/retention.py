"""What of one tenant is kept for a time only, forgotten a little at a time."""

from __future__ import annotations

from geomi.adapters.store.session import OwnedTable, Session
from geomi.adapters.store.statements import table_statements
from geomi.adapters.store.tables.pages import forget_changes, forget_copies
from geomi.adapters.store.tables.quotas import store_bytes
from geomi.model.job import Expired
from geomi.ports.jobs import RetentionStep

SQL = table_statements("retention")

_EVERY = 2**62  # more than a tenant can have


class RetentionTable(OwnedTable):
    """`ports.jobs.JobRetention` of one tenant."""

    async def due(self, *, wall_s: float, limit: int) -> list[tuple[str, Expired]]:
        """Name jobs that have something to lose, and what."""
        return await self._database.read(lambda db: _due(db, self._tenant, wall_s, limit))

    async def begin(self, job: str, what: Expired, *, wall_s: float) -> bool:
        """Write down that something is going; False where it is not due any more."""
        return await self._database.write(lambda db: _begin(db, self._tenant, job, what, wall_s))

    async def forget_urls(self, job: str, *, limit: int) -> int:
        """Forget some URLs of a job that is going; 0 when all have gone."""
        return await self._database.write(lambda db: _forget_urls(db, self._tenant, job, limit))

    async def forget_pages(self, job: str, *, after: int, limit: int) -> RetentionStep:
        """Forget pages and histories whose newest copy is in a job that is going."""
        return await self._database.write(
            lambda db: _forget_pages(db, self._tenant, job, after=after, limit=limit)
        )

    async def forget_captures(self, job: str, *, limit: int) -> int:
        """Forget some captures of a job that is going."""
        return await self._database.write(lambda db: _forget_captures(db, self._tenant, job, limit))

    async def forget_requests(self, job: str, *, after: int, limit: int) -> RetentionStep:
        """Look at a part of the request log and forget what is of a job that is going."""
        return await self._database.write(
            lambda db: _forget_requests(db, self._tenant, job, after=after, limit=limit)
        )


def _due(db: Session, tenant: str, wall_s: float, limit: int) -> list[tuple[str, Expired]]:
    values = {"tenant": tenant, "wall_s": wall_s, "many": limit}
    return [(job, Expired(what)) for job, what in db.rows(SQL["due"], values)]


def _begin(db: Session, tenant: str, job: str, what: Expired, wall_s: float) -> bool:
    # Whoever lets the job go on is waited for, and has then written what is read next.
    row = db.row(SQL["lock"], {"job": job, "tenant": tenant})
    if row is None or (job, what) not in _due(db, tenant, wall_s, _EVERY):
        return False
    return db.run(SQL["mark"], {"expired": what.value, "number": row[0]}) == 1


def _forget_urls(db: Session, tenant: str, job: str, limit: int) -> int:
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


def _forget_pages(db: Session, tenant: str, job: str, *, after: int, limit: int) -> RetentionStep:
    values = {"number": _going(db, tenant, job), "after": after, "many": limit}
    rows = db.rows(SQL["captures"], values)
    pages = forget_copies(db, tenant, rows)
    forget_changes(db, [{"tenant": tenant, "url_hash": url_hash} for url_hash in pages])
    return RetentionStep(rows[-1][0] if rows else 0, len(pages))


def _forget_captures(db: Session, tenant: str, job: str, limit: int) -> int:
    values = {"number": _going(db, tenant, job), "many": limit}
    gone = [size_bytes for (size_bytes,) in db.rows(SQL["forget_captures"], values)]
    store_bytes(db, tenant, -sum(gone))
    return len(gone)


def _forget_requests(
    db: Session, tenant: str, job: str, *, after: int, limit: int
) -> RetentionStep:
    stretch = {"after": after, "many": limit}
    last = db.value(SQL["last_request"], stretch)
    if last is None or _going(db, tenant, job) is None:
        return RetentionStep(0, 0)
    return RetentionStep(last, db.run(SQL["forget_requests"], stretch | {"last": last, "job": job}))


def _going(db: Session, tenant: str, job: str) -> int | None:
    """Return the number of a job of which something is going; of no other is anything forgotten."""
    row = db.row(SQL["going"], {"job": job, "tenant": tenant})
    return row[0] if row else None
