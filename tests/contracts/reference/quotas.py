"""What one tenant may use, and has used."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from geomi.adapters.store.tables.quotas import (
    check_quota,
    day_of,
    entries_left,
    stored_bytes,
    used,
)
from geomi.model.entry import Settlement
from geomi.model.tenant import Quota, TenantUsage
from tests.contracts.reference.world import World


class MemoryQuotas:
    """`ports.jobs.Quotas` of one tenant."""

    def __init__(self, world: World, tenant: str) -> None:
        self._world = world
        self._tenant = tenant

    async def allow(self, quota: Quota) -> None:
        """Write what the tenant may use from now on."""
        check_quota(quota)
        self._world.quotas[self._tenant] = quota

    async def standing(self, *, wall_s: float) -> TenantUsage:
        """Return what the tenant may use, and has used on the day of this time."""
        return _standing(self._world, self._tenant, wall_s)


def count_usage(world: World, tenant: str, visits: Sequence[Settlement], *, wall_s: float) -> None:
    """Count the pages of visits for the tenant's day; bytes are counted when they are asked for."""
    pages, _ = used(visits)
    if tenant in world.quotas and pages:
        key = tenant, day_of(wall_s)
        world.daily_pages[key] = world.daily_pages.get(key, 0) + pages


def quota_left(world: World, tenant: str, *, now_s: float, wall_s: float) -> float:
    """Return how many entries the tenant's quota leaves to lend."""
    if tenant not in world.quotas:
        return inf
    own = [book.job.id for book in world.books.values() if book.job.tenant == tenant]
    lent = sum(row.leased for job in own for row in world.lent(job, now_s))
    return entries_left(_standing(world, tenant, wall_s), lent)


def _standing(world: World, tenant: str, wall_s: float) -> TenantUsage:
    day = day_of(wall_s)
    if tenant not in world.quotas:
        return TenantUsage(day)
    own = (book for book in world.books.values() if book.job.tenant == tenant)
    size_bytes = sum(stored_bytes(page) for book in own for page in book.captures.values())
    return TenantUsage(
        day, world.daily_pages.get((tenant, day), 0), size_bytes, world.quotas[tenant]
    )
