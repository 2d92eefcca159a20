"""How pages changed, which pages a crawl has, and who sweeps it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple

from geomi.adapters.store.postgres.connection import PostgresDatabase
from geomi.adapters.store.postgres.session import PostgresSession, columns
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
)
from geomi.recrawl.rate import pooled

SQL = statements("store.postgres", "recrawl")

_HISTORY = (
    "url_hash", "visited_at_s", "visits", "changes", "streak", "watched_s",
    "changed_at_s", "gone_at_s", "missed_at_s",
)  # fmt: skip
_POOL = ("host", "pattern", "changes", "watched_s", "found", "expected", "at_s")

Kind = tuple[str, str]  # host and pattern
Lesson = tuple[Settlement, HistoryUpdate]


class PostgresHistories:
    """`ports.recrawl.Histories` of one tenant."""

    def __init__(self, database: PostgresDatabase, tenant: str) -> None:
        self._database = database
        self._tenant = tenant

    async def of(self, url_hashes: Sequence[bytes]) -> Mapping[bytes, PageHistory]:
        """Find the histories of pages."""
        values = {"tenant": self._tenant, "hashes": list(url_hashes)}
        rows = await self._database.read(lambda db: db.rows(SQL["histories"], values))
        return {url_hash: history_of(tuple(row)) for url_hash, *row in rows}

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
        values = {"tenant": self._tenant, "job": job, "queue": queue, "after": url_hash}
        values |= {"many": limit}
        rows = await self._database.read(lambda db: db.rows(SQL["standings"], values))
        return [standing_of(row) for row in rows]

    async def met(self, crawl: str, urls: Sequence[Discovered]) -> Mapping[bytes, float]:
        """Return which URLs have been asked for before, and when they were last collected."""
        values: dict[str, object] = {"tenant": self._tenant, "crawl": crawl}
        values |= columns([(url.url_hash, url.host) for url in urls], ("hashes", "hosts"))
        rows = await self._database.read(lambda db: db.rows(SQL["met"], values))
        return {url_hash: float(at_s) for url_hash, at_s in rows}


class PostgresSweeps:
    """`ports.recrawl.Sweeps` of one tenant."""

    def __init__(self, database: PostgresDatabase, tenant: str) -> None:
        self._database = database
        self._tenant = tenant

    async def take(self, crawl: str, *, owner: str, lease_s: float, now_s: float) -> bool:
        """Take or keep the right; False while somebody else has it."""
        values: dict[str, object] = {"tenant": self._tenant, "crawl": crawl, "owner": owner}
        values |= {"now_s": now_s, "until_s": now_s + lease_s}
        return await self._database.write(lambda db: db.run(SQL["take"], values) == 1)

    async def end(self, crawl: str, *, owner: str) -> None:
        """Give the right back."""
        values = {"tenant": self._tenant, "crawl": crawl, "owner": owner}
        await self._database.write(lambda db: db.run(SQL["end"], values))


def write_learned(db: PostgresSession, tenant: str, visits: Sequence[Settlement]) -> None:
    """Write what visits of known pages add to their histories and to their pools.

    Their hosts are locked, so that nobody else writes about the same pages or pools.
    """
    lessons = [(visit, visit.learned) for visit in visits if visit.learned is not None]
    if not lessons:
        return
    owned: dict[str, object] = {"tenant": tenant}
    newest = {visit.entry.url_hash: learned.history for visit, learned in lessons}
    rows = [(url_hash, *_floats(history)) for url_hash, history in sorted(newest.items())]
    db.run(SQL["put_histories"], owned | columns(rows, _HISTORY))
    put_off = {v.entry.url_hash: float(le.due_s) for v, le in lessons if v.page is None}
    if put_off:
        db.run(SQL["put_dues"], owned | columns(sorted(put_off.items()), ("url_hash", "due_s")))
    _keep_versions(db, tenant, lessons)
    _write_pools(db, tenant, lessons)


def _keep_versions(db: PostgresSession, tenant: str, lessons: Sequence[Lesson]) -> None:
    for visit, learned in lessons:
        if (before := learned.before) is None:
            continue
        page = {"tenant": tenant, "url_hash": visit.entry.url_hash}
        said = {"content_hash": before.content_hash, "seen_s": before.seen_s}
        db.run(SQL["put_version"], page | said)
        db.run(SQL["forget_versions"], page | {"kept": KEPT_VERSIONS})


def _write_pools(db: PostgresSession, tenant: str, lessons: Sequence[Lesson]) -> None:
    told = [
        ((visit.entry.host, pattern), learned.evidence)
        for visit, learned in lessons
        if learned.evidence is not None
        for pattern in dict.fromkeys(("", learned.pattern))
    ]
    if not told:
        return
    pools = _pools(db, tenant, list(dict.fromkeys(kind for kind, _ in told)))
    for kind, evidence in told:
        pools[kind] = pooled(pools.get(kind, ChangePool()), evidence)
    rows = [(*kind, *map(float, astuple(pool))) for kind, pool in sorted(pools.items())]
    db.run(SQL["put_pools"], columns(rows, _POOL) | {"tenant": tenant})


def _pools(db: PostgresSession, tenant: str, kinds: Sequence[Kind]) -> dict[Kind, ChangePool]:
    values = columns(kinds, ("hosts", "patterns")) | {"tenant": tenant}
    rows = db.rows(SQL["pools"], values)
    return {(host, pattern): ChangePool(*pool) for host, pattern, *pool in rows}


def _floats(history: PageHistory) -> tuple[object, ...]:
    """Write a history; arrays hold numbers of one kind."""
    at_s, visits, changes, streak, *times = astuple(history)
    dated = (None if one is None else float(one) for one in times)
    return (float(at_s), visits, changes, streak, *dated)
