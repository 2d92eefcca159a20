"""What one tenant may use, and has used: counted by whoever settles or forgets captures.

A quota's row is locked after everything else, because every settlement of the tenant waits for it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, astuple
from datetime import UTC, datetime
from math import inf

from geomi.adapters.store.rows import Row
from geomi.adapters.store.session import OwnedTable, Session, Values
from geomi.adapters.store.statements import table_statements
from geomi.errors import StoreError
from geomi.model.entry import Settlement
from geomi.model.page import PageRecord
from geomi.model.tenant import Quota, TenantUsage

MAX_QUOTA = 2**53  # what JSON carries exactly

SQL = table_statements("quotas")
LIMITS = tuple(Quota.__dataclass_fields__)


class QuotaTable(OwnedTable):
    """`ports.jobs.Quotas` of one tenant."""

    async def allow(self, quota: Quota) -> None:
        """Write what the tenant may use from now on."""
        check_quota(quota)
        values = asdict(quota) | {"tenant": self._tenant, "day": ""}
        await self._database.write(lambda db: _allow(db, values))

    async def standing(self, *, wall_s: float) -> TenantUsage:
        """Return what the tenant may use, and has used on the day of this time."""
        day = day_of(wall_s)
        values = {"tenant": self._tenant, "day": day}
        row = await self._database.read(lambda db: db.row(SQL["standing"], values))
        return standing_of(row, day) if row else TenantUsage(day)


def count_usage(db: Session, tenant: str, visits: Iterable[Settlement], *, wall_s: float) -> None:
    """Count what visits take of the tenant's quota; nothing where it has none."""
    pages, size_bytes = used(visits)
    if pages or size_bytes:
        store_bytes(db, tenant, size_bytes)
        db.send(SQL["take"], {"tenant": tenant, "day": day_of(wall_s), "pages": pages})


def store_bytes(db: Session, tenant: str, more: int) -> None:
    """Count that the archive keeps more for a tenant, or less."""
    if more:
        db.send(SQL["store"], {"tenant": tenant, "bytes": more})


def quota_left(db: Session, tenant: str, *, now_s: float, wall_s: float) -> float:
    """Return how many entries the quota of a tenant leaves; others wait until the commit."""
    day = day_of(wall_s)
    values = {"tenant": tenant, "day": day, "now_s": now_s}
    db.row(SQL["line_up_to_claim"], values)
    row = db.row(SQL["room"], values)
    standing = standing_of(row[:-1], day) if row else TenantUsage(day)
    return entries_left(standing, row[-1] if row else 0)


def day_of(wall_s: float) -> str:
    """Return the day (UTC) of a time, as quotas are counted by it."""
    return datetime.fromtimestamp(wall_s, UTC).date().isoformat()


def check_quota(quota: Quota) -> None:
    """Refuse a limit that no store can keep."""
    for name, most in zip(LIMITS, astuple(quota), strict=True):
        if not 0 <= most <= MAX_QUOTA:
            raise StoreError(
                f"the quota `{name}` is {most}", hint=f"give a number from 0 to {MAX_QUOTA}"
            )


def stored_bytes(page: PageRecord) -> int:
    """Return how many bytes of the archive a capture takes."""
    return page.record.length + (page.response.length if page.response else 0)


def used(visits: Iterable[Settlement]) -> tuple[int, int]:
    """Return what visits take of a quota: pages of the day, and bytes of the archive."""
    pages = size_bytes = 0
    for visit in visits:
        pages += visit.counts
        size_bytes += stored_bytes(visit.page) if visit.page else 0
    return pages, size_bytes


def entries_left(standing: TenantUsage, lent: int) -> float:
    """Return how many entries a tenant may be lent, of all its jobs together.

    Args:
        lent: how many it holds now; each may become a page.
    """
    if not standing.has_room:
        return 0
    most = standing.quota.max_daily_pages if standing.quota else 0
    return most - standing.pages - lent if most else inf


def standing_of(row: Row, day: str) -> TenantUsage:
    """Read what a tenant may use and has used."""
    *limits, size_bytes, pages = row
    return TenantUsage(day, pages, size_bytes, Quota(*limits))


def _allow(db: Session, values: Values) -> None:
    if db.row(SQL["standing"], values) is None:
        db.send(SQL["line_up_to_open"])
        db.send(SQL["open"], values)
    db.send(SQL["limit"], values)
