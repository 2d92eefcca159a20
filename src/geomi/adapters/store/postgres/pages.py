"""What one tenant has collected: pages, the feed of captures, and how far its readers have come."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from geomi.adapters.store.keys import band_keys
from geomi.adapters.store.postgres.connection import PostgresDatabase
from geomi.adapters.store.postgres.jobs import number_of
from geomi.adapters.store.postgres.session import PostgresSession
from geomi.adapters.store.postgres.settle import PAGES_SQL
from geomi.adapters.store.rows import capture_of, page_of
from geomi.dedup.sketch import PAGES_PER_BAND
from geomi.model.page import CaptureRow, KnownPage, PageRecord


class PostgresPages:
    """`ports.store.Pages` of one tenant."""

    def __init__(self, database: PostgresDatabase, tenant: str) -> None:
        self._database = database
        self._tenant = tenant

    async def get(self, url_hash: bytes) -> PageRecord | None:
        """Find a page by its identity."""
        values = {"tenant": self._tenant, "url_hash": url_hash}
        row = await self._database.read(lambda db: db.row(PAGES_SQL["get"], values))
        return page_of(row) if row else None

    async def visited(self, url_hashes: Sequence[bytes]) -> Mapping[bytes, tuple[float, float]]:
        """Return when each page that is here was fetched last, and when it is due."""
        values = {"tenant": self._tenant, "hashes": list(url_hashes)}
        rows = await self._database.read(lambda db: db.rows(PAGES_SQL["visited"], values))
        return {url_hash: (fetched_at_s, due_s) for url_hash, fetched_at_s, due_s in rows}

    async def twins(self, job: str, exact_keys: Sequence[bytes]) -> Mapping[bytes, KnownPage]:
        """Return the first page of a job that was kept under each exact key, without its sketch."""
        if not exact_keys:
            return {}
        values = {"job": job, "tenant": self._tenant, "exact_keys": list(exact_keys)}
        rows = await self._database.read(lambda db: db.rows(PAGES_SQL["twins"], values))
        return {
            exact_key: KnownPage(url, b"", duplicate_of, url_hash, exact_key)
            for exact_key, url, duplicate_of, url_hash in rows
        }

    async def near(self, sketch: bytes) -> list[KnownPage]:
        """Return pages of any job that share a band, the oldest first."""
        keys = band_keys(self._tenant, sketch)
        if not keys:
            return []
        values = {"tenant": self._tenant, "bands": list(keys), "many": PAGES_PER_BAND}
        rows = await self._database.read(lambda db: db.rows(PAGES_SQL["near"], values))
        return [KnownPage(*row) for row in rows]

    async def feed(self, job: str, *, after: int, limit: int) -> list[CaptureRow]:
        """Return captures of a job after a cursor, in the order of commits."""
        values = {"job": job, "tenant": self._tenant, "after": after, "many": limit}
        rows = await self._database.read(lambda db: db.rows(PAGES_SQL["feed"], values))
        return [capture_of(row) for row in rows]

    async def cursor(self, job: str, name: str) -> tuple[int, int]:
        """Return (last sequence, committed length) of a derived output."""
        values = {"job": job, "tenant": self._tenant, "name": name}
        row = await self._database.read(lambda db: db.row(PAGES_SQL["cursor"], values))
        return (row[0], row[1]) if row else (0, 0)

    async def advance(self, job: str, name: str, *, after: int, seq: int, length: int) -> bool:
        """Commit how far a derived output has come; False where it was rewound meanwhile."""
        values = {"name": name, "after": after, "seq": seq, "length": length}
        return await self._database.write(
            partial(_advance, tenant=self._tenant, job=job, values=values)
        )


def _advance(db: PostgresSession, *, tenant: str, job: str, values: Mapping[str, object]) -> bool:
    number = {"job": number_of(db, job, tenant)}
    return db.run(PAGES_SQL["advance"], {**values, **number}) == 1
