"""What a tenant has used of what it may use, and what models were paid for it."""

from __future__ import annotations

from dataclasses import dataclass

from geomi.model.index.language_model import CostLine
from geomi.model.job import BEGUN, JobState
from geomi.model.tenant import Quota, TenantUsage
from geomi.service import tenants
from geomi.service.open import Desk


@dataclass(frozen=True, slots=True)
class Usage:
    """How a tenant stands today."""

    quota: Quota
    standing: TenantUsage
    running: int
    waiting: int


async def usage(desk: Desk) -> Usage:
    """Return what a tenant has used."""
    tenant = await tenants.find(desk.service, desk.tenant)
    standing = await desk.home.store.quotas.standing(wall_s=desk.wall_s)
    counts = await desk.world.jobs.counts()
    running = sum(counts.get(state, 0) for state in BEGUN)
    return Usage(tenant.quota, standing, running, counts.get(JobState.PENDING, 0))


async def costs(desk: Desk, job: str = "") -> list[CostLine]:
    """List what models were paid for, of a job or of all."""
    return await desk.world.costs.list(job)
