"""A tenant goes, with everything that was collected and kept for it.

In an order that can be cut short at any point and asked for again: first nobody can open anything
or start more, then its crawls and all they brought are erased, then what lay in its drawers and
waited in its queues, and its own entry last. What is left is the line of the takedown, the system's
audit log, and what models have cost.
"""

from __future__ import annotations

from collections.abc import Sequence

from geomi.app import findings, registry
from geomi.app.shelf import forget
from geomi.app.takedown import MAX_REASON_CHARS, erase_jobs
from geomi.errors import FieldRefused
from geomi.model.index.search import IndexScope
from geomi.model.site import Takedown
from geomi.service import (
    alarms,
    audit,
    collections,
    deliveries,
    hooks,
    idempotency,
    keys,
    schedules,
    seed_alarms,
    tenants,
)
from geomi.service.open import Desk, Service

# Schedules first, so that none of them starts a crawl meanwhile.
DRAWERS: Sequence[str] = (
    schedules.DRAWER,
    hooks.DRAWER,
    deliveries.DRAWER,
    collections.DRAWER,
    alarms.DRAWER,
    seed_alarms.DRAWER,
    idempotency.DRAWER,
    audit.DRAWER,
    findings.DRAWER,
)


async def erase_tenant(service: Service, name: str, reason: str) -> Takedown:
    """Erase a tenant; return how many crawls and pages went."""
    if len(reason) > MAX_REASON_CHARS:
        raise FieldRefused(f"a reason has {MAX_REASON_CHARS} characters", field="reason")
    await tenants.find(service, name)
    desk = service.desk(name)
    await keys.forget(service, await keys.of_tenant(service, name))
    await _empty(desk, schedules.DRAWER)
    jobs = await desk.world.jobs.list(limit=registry.EVERY_JOB)
    line = Takedown(f"tenant {name}", name, reason, desk.wall_s, len(jobs), 0)
    if jobs:
        line = await erase_jobs(desk.home, jobs, line)
    await forget(desk.home, IndexScope.TENANT, [name])
    for drawer in DRAWERS:
        await _empty(desk, drawer)
    await desk.home.store.queues.erase()
    await desk.home.store.scrub()
    await tenants.forget(service, name)
    return line


async def _empty(desk: Desk, drawer: str) -> None:
    while slips := await desk.slips.list(drawer, limit=100):
        for slip in slips:
            await desk.slips.remove(slip)
