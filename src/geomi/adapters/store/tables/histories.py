"""How pages of one tenant changed, what pages of a host have told together, and who sweeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from geomi.adapters.store.mapping import RowMapper
from geomi.adapters.store.rows import Row
from geomi.adapters.store.session import OwnedTable, Session
from geomi.adapters.store.statements import table_statements
from geomi.model.entry import Discovered, Settlement
from geomi.model.history import (
    ChangePool,
    HistoryUpdate,
    PageCursor,
    PageHistory,
    RevisitPage,
    Version,
)
from geomi.recrawl.rate import pooled

# Versions of a page whose digests are kept (DAT-07): some months of a page that changes daily.
KEPT_VERSIONS = 100

ROWS = RowMapper(PageHistory, "histories")
SQL = table_statements("histories", ROWS)

PoolKey = tuple[str, str]  # a host, and a pattern of its pages; an empty one is all of them
Lesson = tuple[Settlement, HistoryUpdate]


class HistoryTable(OwnedTable):
    """`ports.pages.Histories` of one tenant."""

    async def of(self, url_hashes: Sequence[bytes]) -> Mapping[bytes, PageHistory]:
        """Find the histories of pages."""
        asked = [{"tenant": self._tenant, "url_hash": url_hash} for url_hash in url_hashes]
        rows = await self._database.read(lambda db: db.rows_of_each(SQL["history"], asked))
        return {url_hash: ROWS.read(tuple(row)) for url_hash, *row in rows}

    async def pools(self, host: str, patterns: Sequence[str]) -> Mapping[str, ChangePool]:
        """Find what pages of a host have told together."""
        asked = [(host, pattern) for pattern in patterns]
        found = await self._database.read(lambda db: _pools(db, self._tenant, asked))
        return {pattern: pool for (_, pattern), pool in found.items()}

    async def versions(self, url_hash: bytes, *, limit: int) -> list[Version]:
        """List what a page was before, the newest first."""
        values = {"tenant": self._tenant, "url_hash": url_hash, "many": limit}
        rows = await self._database.read(lambda db: db.rows(SQL["versions"], values))
        return [Version(*row) for row in rows]

    async def runs(self, crawl: str) -> list[str]:
        """List the jobs of a crawl in the order they were made."""
        values = {"tenant": self._tenant, "crawl": crawl}
        rows = await self._database.read(lambda db: db.rows(SQL["runs"], values))
        return [job for (job,) in rows]

    async def standings(self, job: str, *, after: PageCursor, limit: int) -> list[RevisitPage]:
        """List the pages that a job collected and met first."""
        queue, url_hash = after
        place = {"queue": queue, "after": url_hash, "many": limit}
        values = {"tenant": self._tenant, "job": job, **place}
        rows = await self._database.read(lambda db: db.rows(SQL["standings"], values))
        return [_revisit_page(row) for row in rows]

    async def present(self, crawl: str) -> int:
        """Count the pages of a crawl that are still there."""
        values = {"tenant": self._tenant, "crawl": crawl}
        ((many,),) = await self._database.read(lambda db: db.rows(SQL["present"], values))
        return int(many)

    async def met(self, crawl: str, urls: Sequence[Discovered]) -> Mapping[bytes, float]:
        """Return which URLs have been asked for before, and when they were last collected."""
        known = {"tenant": self._tenant, "crawl": crawl}
        asked = [{"url_hash": url.url_hash, "host": url.host, **known} for url in urls]
        rows = await self._database.read(lambda db: db.rows_of_each(SQL["met"], asked))
        return {url_hash: float(at_s) for url_hash, at_s in rows if at_s is not None}


class SweepTable(OwnedTable):
    """`ports.pages.Sweeps` of one tenant."""

    async def take(self, crawl: str, *, owner: str, lease_s: float, now_s: float) -> bool:
        """Take or keep the right; False while somebody else has it."""
        values = {"tenant": self._tenant, "crawl": crawl, "owner": owner}
        times = {"now_s": now_s, "until_s": now_s + lease_s}
        return await self._database.write(
            lambda db: db.run(SQL["take_sweep"], {**values, **times}) == 1
        )

    async def end(self, crawl: str, *, owner: str) -> None:
        """Give the right back."""
        values = {"tenant": self._tenant, "crawl": crawl, "owner": owner}
        await self._database.write(lambda db: db.send(SQL["end_sweep"], values))


def write_learned(db: Session, tenant: str, visits: Sequence[Settlement]) -> None:
    """Write what visits of known pages add to their histories and to their pools.

    Their hosts are locked, so that nobody else writes about the same pages or pools.
    """
    lessons = [(visit, visit.learned) for visit in visits if visit.learned is not None]
    if not lessons:
        return
    newest = {visit.entry.url_hash: learned for visit, learned in lessons}
    pages = [(_page(tenant, one), learned) for one, learned in sorted(newest.items())]
    db.run_each(SQL["put_history"], [page | ROWS.values(one.history) for page, one in pages])
    put_off = {visit.entry.url_hash for visit, _ in lessons if visit.page is None}
    dues = [page | {"due_s": one.due_s} for page, one in pages if page["url_hash"] in put_off]
    db.run_each(SQL["put_due"], dues)
    _keep_versions(db, tenant, lessons)
    _write_pools(db, tenant, lessons)


def _keep_versions(db: Session, tenant: str, lessons: Sequence[Lesson]) -> None:
    for visit, learned in lessons:
        if learned.before is not None:
            page = _page(tenant, visit.entry.url_hash)
            db.send(SQL["put_version"], page | asdict(learned.before))
            db.send(SQL["forget_versions"], page | {"kept": KEPT_VERSIONS})


def _write_pools(db: Session, tenant: str, lessons: Sequence[Lesson]) -> None:
    evidence = [
        ((visit.entry.host, pattern), learned.evidence)
        for visit, learned in lessons
        if learned.evidence is not None
        for pattern in dict.fromkeys(("", learned.pattern))
    ]
    pools = _pools(db, tenant, list(dict.fromkeys(key for key, _ in evidence)))
    for key, one in evidence:
        pools[key] = pooled(pools.get(key, ChangePool()), one)
    rows = [
        {"tenant": tenant, "host": host, "pattern": pattern} | asdict(pool)
        for (host, pattern), pool in sorted(pools.items())
    ]
    db.run_each(SQL["put_pool"], rows)


def _pools(db: Session, tenant: str, keys: Sequence[PoolKey]) -> dict[PoolKey, ChangePool]:
    asked = [{"tenant": tenant, "host": host, "pattern": pattern} for host, pattern in keys]
    rows = db.rows_of_each(SQL["pool"], asked)
    return {(host, pattern): ChangePool(*pool) for host, pattern, *pool in rows}


def _page(tenant: str, url_hash: bytes) -> dict[str, object]:
    return {"tenant": tenant, "url_hash": url_hash}


def _revisit_page(row: Row) -> RevisitPage:
    """Read a page of a walk; one that was visited once has no history."""
    queue, url_hash, url, host, depth, fetched_at_s, due_s, *changed = row
    history = PageHistory() if changed[0] is None else ROWS.read(tuple(changed))
    return RevisitPage(url_hash, url, host, depth, fetched_at_s, due_s, history, (queue, url_hash))
