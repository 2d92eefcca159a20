"""How pages changed, which pages a crawl has, and who sweeps it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple
from functools import partial

from geomi.adapters.store.sqlite.connection import SqliteDatabase, SqliteSession
from geomi.adapters.store.statements import statements
from geomi.adapters.store.tables.recrawl import KEPT_VERSIONS, history_of, standing_of
from geomi.model.entry import Discovered, Settlement
from geomi.model.history import (
    ChangePool,
    HistoryUpdate,
    PageCursor,
    PageHistory,
    RevisitPage,
    Version,
    VisitEvidence,
)
from geomi.recrawl.rate import pooled

SQL = statements("store.sqlite", "recrawl")


class SqliteHistories:
    """`ports.recrawl.Histories` of one tenant."""

    def __init__(self, database: SqliteDatabase, tenant: str) -> None:
        self._database = database
        self._tenant = tenant

    async def of(self, url_hashes: Sequence[bytes]) -> Mapping[bytes, PageHistory]:
        """Find the histories of pages."""
        found = {}
        with self._database.reading() as db:
            for url_hash in url_hashes:
                row = db.execute(SQL["history"], (self._tenant, url_hash)).fetchone()
                if row is not None:
                    found[url_hash] = history_of(row)
        return found

    async def pools(self, host: str, patterns: Sequence[str]) -> Mapping[str, ChangePool]:
        """Find what pages of a host have told together."""
        with self._database.reading() as db:
            found = {one: _pool(db, self._tenant, host, one) for one in patterns}
        return {pattern: pool for pattern, pool in found.items() if pool is not None}

    async def versions(self, url_hash: bytes, *, limit: int) -> list[Version]:
        """List what a page was before, the newest first."""
        with self._database.reading() as db:
            rows = db.execute(SQL["versions"], (self._tenant, url_hash, limit))
            return [Version(*row) for row in rows]

    async def runs(self, crawl: str) -> list[str]:
        """List the jobs of a crawl in the order they were made."""
        values = {"tenant": self._tenant, "crawl": crawl}
        with self._database.reading() as db:
            return [job for (job,) in db.execute(SQL["runs"], values)]

    async def standings(self, job: str, *, after: PageCursor, limit: int) -> list[RevisitPage]:
        """List the pages that a job collected and met first."""
        queue, url_hash = after
        values = {"tenant": self._tenant, "job": job, "queue": queue, "after": url_hash}
        with self._database.reading() as db:
            rows = db.execute(SQL["standings"], values | {"many": limit})
            return [standing_of(row) for row in rows]

    async def met(self, crawl: str, urls: Sequence[Discovered]) -> Mapping[bytes, float]:
        """Return which URLs have been asked for before, and when they were last collected."""
        found = {}
        with self._database.reading() as db:
            for url in urls:
                values = {"url_hash": url.url_hash, "host": url.host, "crawl": crawl}
                row = db.execute(SQL["met"], values | {"tenant": self._tenant}).fetchone()
                if row[0] is not None:
                    found[url.url_hash] = float(row[0])
        return found


class SqliteSweeps:
    """`ports.recrawl.Sweeps` of one tenant."""

    def __init__(self, database: SqliteDatabase, tenant: str) -> None:
        self._database = database
        self._tenant = tenant

    async def take(self, crawl: str, *, owner: str, lease_s: float, now_s: float) -> bool:
        """Take or keep the right; False while somebody else has it."""
        values = {"tenant": self._tenant, "crawl": crawl, "owner": owner, "now_s": now_s}
        values |= {"until_s": now_s + lease_s}
        return await self._database.write(partial(_changes, name="take", values=values))

    async def end(self, crawl: str, *, owner: str) -> None:
        """Give the right back."""
        values = {"tenant": self._tenant, "crawl": crawl, "owner": owner}
        await self._database.write(partial(_changes, name="end", values=values))


def write_learned(
    db: SqliteSession, *, tenant: str, visit: Settlement, learned: HistoryUpdate
) -> None:
    """Write what a visit of a known page adds to its history and to its pools."""
    entry = visit.entry
    page = (tenant, entry.url_hash)
    db.execute(SQL["put_history"], (*page, *astuple(learned.history)))
    if visit.page is None:
        db.execute(SQL["put_due"], (learned.due_s, *page))
    if learned.before is not None:
        db.execute(SQL["put_version"], (*page, *astuple(learned.before)))
        values = {"tenant": tenant, "url_hash": entry.url_hash, "kept": KEPT_VERSIONS}
        db.execute(SQL["forget_versions"], values)
    if learned.evidence is not None:
        for pattern in dict.fromkeys(("", learned.pattern)):
            _add(db, (tenant, entry.host, pattern), learned.evidence)


def _add(db: SqliteSession, key: tuple[str, str, str], evidence: VisitEvidence) -> None:
    pool = pooled(_pool(db, *key) or ChangePool(), evidence)
    db.execute(SQL["put_pool"], (*key, *astuple(pool)))


def _pool(db: SqliteSession, tenant: str, host: str, pattern: str) -> ChangePool | None:
    row = db.execute(SQL["pool"], (tenant, host, pattern)).fetchone()
    return ChangePool(*row) if row else None


def _changes(db: SqliteSession, *, name: str, values: Mapping[str, object]) -> bool:
    return db.execute(SQL[name], values).rowcount == 1
