"""What counts for a tenant's quota, and what a quota leaves."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import astuple
from datetime import UTC, datetime
from math import inf

from geomi.adapters.store.rows import Row
from geomi.errors import StoreError
from geomi.model.entry import Settlement
from geomi.model.page import PageRecord
from geomi.model.tenant import Quota, TenantUsage

MAX_QUOTA = 2**53  # what JSON carries exactly

LIMITS = tuple(Quota.__dataclass_fields__)


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
