"""What a tenant has used of what it may use, and what models were paid for it."""

from __future__ import annotations

from dataclasses import dataclass

from geomi.model.cost import CostLine
from geomi.model.job import BEGUN, JobFilter, JobState
from geomi.model.tenant import Quota, Standing
from geomi.service import tenants
from geomi.service.open import Desk

COUNTED = 1000  # jobs at most; more would be told as this many


@dataclass(frozen=True, slots=True)
class Usage:
    """How a tenant stands today."""

    quota: Quota
    standing: Standing
    running: int
    waiting: int


async def usage(desk: Desk) -> Usage:
    """Return what a tenant has used."""
    tenant = await tenants.find(desk.service, desk.tenant)
    standing = await desk.home.store.quotas.standing(wall_s=desk.wall_s)
    running = 0
    for state in BEGUN:
        running += await _count(desk, state)
    return Usage(tenant.quota, standing, running, await _count(desk, JobState.PENDING))


async def costs(desk: Desk, job: str = "") -> list[CostLine]:
    """List what models were paid for, of a job or of all."""
    return await desk.world.costs.list(job)


async def _count(desk: Desk, state: JobState) -> int:
    found = await desk.world.jobs.page(JobFilter(state=state), before="", limit=COUNTED)
    return len(found)
