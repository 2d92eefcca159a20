"""What one tenant has collected: pages, the feed of captures, and how far its readers have come."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import cycle

from geomi.adapters.store.keys import band_keys
from geomi.adapters.store.mapping import ColumnKind, RowMapper
from geomi.adapters.store.rows import Row
from geomi.adapters.store.session import OwnedTable, Session, Values
from geomi.adapters.store.statements import table_statements
from geomi.adapters.store.tables.jobs import number_of
from geomi.dedup.sketch import BANDS, PAGES_PER_BAND
from geomi.model.page import CaptureRow, KnownPage, PageRecord

_PLACES = {"record": "record_", "response": "response_"}


def _signed(simhash: int) -> int:
    """Write 64 bits as a database's signed integer."""
    return simhash - (1 << 64) if simhash >> 63 else simhash


def _unsigned(simhash: int) -> int:
    """Read 64 bits back."""
    return simhash & 0xFFFF_FFFF_FFFF_FFFF


ROWS = RowMapper(
    PageRecord,
    "pages",
    prefixes=_PLACES | {"fingerprint": ""},
    kinds={"simhash": ColumnKind(int, _unsigned, _signed)},
)
CAPTURES = RowMapper(CaptureRow, "captures", prefixes=_PLACES)
SQL = table_statements("pages", ROWS)
BAND_NAMES = tuple(f"band_{place}" for place in range(BANDS))


class PageTable(OwnedTable):
    """`ports.store.Pages` of one tenant."""

    async def get(self, url_hash: bytes) -> PageRecord | None:
        """Find a page by its identity."""
        values = {"tenant": self._tenant, "url_hash": url_hash}
        row = await self._database.read(lambda db: db.row(SQL["get"], values))
        return ROWS.read(row) if row else None

    async def visited(self, url_hashes: Sequence[bytes]) -> Mapping[bytes, tuple[float, float]]:
        """Return when each page that is here was fetched last, and when it is due."""
        asked = [{"tenant": self._tenant, "url_hash": url_hash} for url_hash in url_hashes]
        rows = await self._database.read(lambda db: db.rows_of_each(SQL["visited"], asked))
        return {url_hash: (fetched_at_s, due_s) for url_hash, fetched_at_s, due_s in rows}

    async def twins(self, job: str, exact_keys: Sequence[bytes]) -> Mapping[bytes, KnownPage]:
        """Return the first page of a job that was kept under each exact key, without its sketch."""
        if not exact_keys:
            return {}
        asked = [{"job": job, "tenant": self._tenant, "exact_key": key} for key in exact_keys]
        rows = await self._database.read(lambda db: db.rows_of_each(SQL["twin"], asked))
        return {
            exact_key: KnownPage(url, b"", duplicate_of, url_hash, exact_key)
            for exact_key, url, duplicate_of, url_hash in rows
        }

    async def near(self, sketch: bytes) -> list[KnownPage]:
        """Return pages of any job that share a band, the oldest first."""
        keys = band_keys(self._tenant, sketch)
        if not keys:
            return []
        values: dict[str, object] = {"tenant": self._tenant, "many": PAGES_PER_BAND}
        # Two bands may fall on one key; the statement has a place for each band.
        values |= zip(BAND_NAMES, cycle(keys), strict=False)
        rows = await self._database.read(lambda db: db.rows(SQL["near"], values))
        return [KnownPage(*row) for row in rows]

    async def feed(self, job: str, *, after: int, limit: int) -> list[CaptureRow]:
        """Return captures of a job after a cursor, in the order of commits."""
        values = {"job": job, "tenant": self._tenant, "after": after, "many": limit}
        rows = await self._database.read(lambda db: db.rows(SQL["feed"], values))
        return [CAPTURES.read(row) for row in rows]

    async def cursor(self, job: str, name: str) -> tuple[int, int]:
        """Return (last sequence, committed length) of a derived output."""
        values = {"job": job, "tenant": self._tenant, "name": name}
        row = await self._database.read(lambda db: db.row(SQL["cursor"], values))
        return (row[0], row[1]) if row else (0, 0)

    async def advance(self, job: str, name: str, *, after: int, seq: int, length: int) -> bool:
        """Commit how far a derived output has come; False where it was rewound meanwhile."""
        values = {"name": name, "after": after, "seq": seq, "length": length}
        return await self._database.write(lambda db: _advance(db, self._tenant, job, values))


def capture_row(page: PageRecord) -> Row:
    """Write that a page was collected; one without text is compared with nothing."""
    record, response = page.record, page.response
    where = (response.segment, response.offset, response.length) if response else (None,) * 3
    place = (record.segment, record.offset, record.length, *where)
    return (page.url_hash, page.url, *place, page.fingerprint.exact_key or None)


def rewind(db: Session, jobs: Iterable[int]) -> None:
    """Let the derived outputs of jobs be written anew."""
    meant = [{"job": job} for job in sorted(jobs)]
    for name in ("rewind", "rewind_shares"):
        db.run_each(SQL[name], meant)


def forget_copies(db: Session, tenant: str, captures: Iterable[Row]) -> list[bytes]:
    """Forget the pages whose newest copies are some captures; return their hashes.

    Args:
        captures: of each its number, the page's hash, and the segment and offset of its record.
    """
    copies = [
        {"tenant": tenant, "seq": seq, "url_hash": url_hash, "segment": segment, "offset": offset}
        for seq, url_hash, segment, offset in sorted(captures, key=lambda row: row[1:])
    ]  # in the order in which all lock them
    pages = db.rows_of_each(SQL["forget_copy"], copies)
    forget_bands(db, tenant, [page[1:] for page in pages])
    return [url_hash for url_hash, *_ in pages]


def forget_bands(db: Session, tenant: str, pages: Iterable[Row]) -> None:
    """Let similar pages find some no more; of each its number, its sketch and what it repeats."""
    lost = sorted((band, page) for page, *known in pages for band in band_keys(tenant, *known))
    db.run_each(SQL["forget_band"], [{"band": band, "page": page} for band, page in lost])


def forget_changes(db: Session, pages: Sequence[Values]) -> None:
    """Forget how pages, each by its tenant and its hash, changed and what they were before."""
    for name in ("forget_history", "forget_versions"):
        db.run_each(SQL[name], pages)


def _advance(db: Session, tenant: str, job: str, values: Values) -> bool:
    number = {"job": number_of(db, job, tenant)}
    return db.run(SQL["advance"], {**values, **number}) == 1
