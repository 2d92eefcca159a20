"""What one tenant may use, and has used: counted by whoever settles or forgets captures.

A quota's row is locked after everything else, because every settlement of the tenant waits for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial

from geomi.adapters.store.accounting.quota import (
    check_quota,
    day_of,
    entries_left,
    standing_of,
    used,
)
from geomi.adapters.store.postgres.connection import PostgresDatabase
from geomi.adapters.store.postgres.session import PostgresSession, columns
from geomi.adapters.store.statements import statements
from geomi.model.entry import Settlement
from geomi.model.tenant import Quota, TenantUsage

SQL = statements("store.postgres", "quotas")


class PostgresQuotas:
    """`ports.tenancy.Quotas` of one tenant."""

    def __init__(self, database: PostgresDatabase, tenant: str) -> None:
        self._database = database
        self._tenant = tenant

    async def allow(self, quota: Quota) -> None:
        """Write what the tenant may use from now on."""
        check_quota(quota)
        values = asdict(quota) | {"tenant": self._tenant, "day": ""}
        await self._database.write(partial(_allow, values=values))

    async def standing(self, *, wall_s: float) -> TenantUsage:
        """Return what the tenant may use, and has used on the day of this time."""
        day = day_of(wall_s)
        values = {"tenant": self._tenant, "day": day}
        row = await self._database.read(lambda db: db.row(SQL["standing"], values))
        return standing_of(row, day) if row else TenantUsage(day)


def count_usage(
    db: PostgresSession, tenant: str, visits: Sequence[Settlement], *, wall_s: float
) -> None:
    """Count what visits take of the tenant's quota; nothing where it has none."""
    pages, size_bytes = used(visits)
    if pages or size_bytes:
        values = {"tenant": tenant, "day": day_of(wall_s), "pages": pages, "bytes": size_bytes}
        db.send(SQL["use"], values)


def give_back(db: PostgresSession, gone: Mapping[str, int]) -> None:
    """Count that the archive keeps less for some tenants."""
    if gone:
        db.send(SQL["give_back"], columns(sorted(gone.items()), ("tenants", "bytes")))


def quota_left(db: PostgresSession, tenant: str, *, now_s: float, wall_s: float) -> float:
    """Return how many entries the quota of a tenant leaves; others wait until the commit."""
    day = day_of(wall_s)
    values = {"tenant": tenant, "day": day, "now_s": now_s}
    db.row(SQL["claim_one"], values)
    row = db.row(SQL["room"], values)
    standing = standing_of(row[:-1], day) if row else TenantUsage(day)
    return entries_left(standing, row[-1] if row else 0)


def _allow(db: PostgresSession, *, values: dict[str, object]) -> None:
    if db.row(SQL["standing"], values) is None:
        db.send(SQL["line_up"])
        db.send(SQL["open"], values)
    db.send(SQL["limit"], values)
