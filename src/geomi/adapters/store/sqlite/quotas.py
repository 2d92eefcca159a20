"""What one tenant may use, and has used: counted by whoever settles or forgets captures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial

from geomi.adapters.store.accounting.quota import (
    check_quota,
    day_of,
    entries_left,
    standing_of,
    used,
)
from geomi.adapters.store.sqlite.connection import SqliteDatabase, SqliteSession
from geomi.adapters.store.statements import statements
from geomi.model.entry import Settlement
from geomi.model.tenant import Quota, TenantUsage

SQL = statements("store.sqlite", "quotas")


class SqliteQuotas:
    """`ports.tenancy.Quotas` of one tenant."""

    def __init__(self, database: SqliteDatabase, tenant: str) -> None:
        self._database = database
        self._tenant = tenant

    async def allow(self, quota: Quota) -> None:
        """Write what the tenant may use from now on."""
        check_quota(quota)
        values = asdict(quota) | {"tenant": self._tenant}
        await self._database.write(partial(_allow, values=values))

    async def standing(self, *, wall_s: float) -> TenantUsage:
        """Return what the tenant may use, and has used on the day of this time."""
        with self._database.reading() as db:
            return _standing(db, self._tenant, wall_s)


def count_usage(
    db: SqliteSession, tenant: str, visits: Sequence[Settlement], *, wall_s: float
) -> None:
    """Count what visits take of the tenant's quota; nothing where it has none."""
    pages, size_bytes = used(visits)
    if store_bytes(db, tenant, size_bytes) and pages:
        db.execute(SQL["take"], {"tenant": tenant, "day": day_of(wall_s), "pages": pages})


def store_bytes(db: SqliteSession, tenant: str, more: int) -> bool:
    """Count that the archive keeps more for a tenant, or less; False where it has no quota."""
    return db.execute(SQL["store"], {"tenant": tenant, "bytes": more}).rowcount == 1


def quota_left(db: SqliteSession, tenant: str, *, now_s: float, wall_s: float) -> float:
    """Return how many entries the quota of a tenant leaves to lend."""
    (lent,) = db.execute(SQL["lent"], {"tenant": tenant, "now_s": now_s}).fetchone()
    return entries_left(_standing(db, tenant, wall_s), lent)


def _allow(db: SqliteSession, *, values: dict[str, object]) -> None:
    if db.execute(SQL["limit"], values).rowcount == 0:
        db.execute(SQL["open"], values)


def _standing(db: SqliteSession, tenant: str, wall_s: float) -> TenantUsage:
    day = day_of(wall_s)
    row = db.execute(SQL["standing"], {"tenant": tenant, "day": day}).fetchone()
    return standing_of(row, day) if row else TenantUsage(day)
