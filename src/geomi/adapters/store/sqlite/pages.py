"""What one tenant has collected: pages, the feed of captures, and how far its readers have come."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import cycle

from geomi.adapters.store.keys import band_keys
from geomi.adapters.store.rows import capture_of, page_of
from geomi.adapters.store.sqlite.connection import SqliteDatabase, SqliteSession
from geomi.adapters.store.sqlite.jobs import number_of
from geomi.adapters.store.sqlite.look_up import by_size, look_up
from geomi.adapters.store.statements import statements
from geomi.dedup.sketch import BANDS, PAGES_PER_BAND
from geomi.model.page import CaptureRow, KnownPage, PageRecord

SQL = statements("store.sqlite", "pages")
_VISITED = by_size(SQL["visited"])
BAND_NAMES = tuple(f"band_{place}" for place in range(BANDS))


class SqlitePages:
    """`ports.store.Pages` of one tenant."""

    def __init__(self, database: SqliteDatabase, tenant: str) -> None:
        self._database = database
        self._tenant = tenant

    async def get(self, url_hash: bytes) -> PageRecord | None:
        """Find a page by its identity."""
        with self._database.reading() as db:
            row = db.execute(SQL["get"], (self._tenant, url_hash)).fetchone()
        return page_of(row) if row else None

    async def visited(self, url_hashes: Sequence[bytes]) -> Mapping[bytes, tuple[float, float]]:
        """Return when each page that is here was fetched last, and when it is due."""
        with self._database.reading() as db:
            rows = look_up(db, _VISITED, self._tenant, list(url_hashes))
        return {url_hash: (fetched_at_s, due_s) for url_hash, fetched_at_s, due_s in rows}

    async def twins(self, job: str, exact_keys: Sequence[bytes]) -> Mapping[bytes, KnownPage]:
        """Return the first page of a job that was kept under each exact key, without its sketch."""
        twins = {}
        with self._database.reading() as db:
            for exact_key in exact_keys:
                values = {"job": job, "tenant": self._tenant, "exact_key": exact_key}
                row = db.execute(SQL["twin"], values).fetchone()
                if row is not None:
                    url, duplicate_of, url_hash = row
                    twins[exact_key] = KnownPage(url, b"", duplicate_of, url_hash, exact_key)
        return twins

    async def near(self, sketch: bytes) -> list[KnownPage]:
        """Return pages of any job that share a band, the oldest first."""
        keys = band_keys(self._tenant, sketch)
        if not keys:
            return []
        values: dict[str, object] = {"tenant": self._tenant, "many": PAGES_PER_BAND}
        # Two bands may fall on one key; the statement has a place for each band.
        values |= zip(BAND_NAMES, cycle(keys), strict=False)
        with self._database.reading() as db:
            return [KnownPage(*row) for row in db.execute(SQL["near"], values)]

    async def feed(self, job: str, *, after: int, limit: int) -> list[CaptureRow]:
        """Return captures of a job after a cursor, in the order of commits."""
        values = {"job": job, "tenant": self._tenant, "after": after, "many": limit}
        with self._database.reading() as db:
            rows = db.execute(SQL["feed"], values).fetchall()
        return [capture_of(row) for row in rows]

    async def cursor(self, job: str, name: str) -> tuple[int, int]:
        """Return (last sequence, committed length) of a derived output."""
        values = {"job": job, "tenant": self._tenant, "name": name}
        with self._database.reading() as db:
            row = db.execute(SQL["cursor"], values).fetchone()
        return (row[0], row[1]) if row else (0, 0)

    async def advance(self, job: str, name: str, *, after: int, seq: int, length: int) -> bool:
        """Commit how far a derived output has come; False where it was rewound meanwhile."""
        values = {"name": name, "after": after, "seq": seq, "length": length}
        return await self._database.write(
            partial(_advance, tenant=self._tenant, job=job, values=values)
        )


def _advance(db: SqliteSession, *, tenant: str, job: str, values: Mapping[str, object]) -> bool:
    number = {"job": number_of(db, job, tenant)}
    return db.execute(SQL["advance"], {**values, **number}).rowcount == 1
