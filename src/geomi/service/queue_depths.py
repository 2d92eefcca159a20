"""Measure from the store what waits, which processes run, and how chunks came out."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from geomi.chunk.check import check
from geomi.engine.seeds.report import EVERYTHING
from geomi.model.dataset.queue import COUNTED
from geomi.service import deliveries, seeds
from geomi.service.access import tenants
from geomi.service.collections import chunk_values
from geomi.service.service import Service

MOST_JOBS = 10_000
MOST_DELIVERIES = 1000
MOST_CHUNK_SERIES = 1000


@dataclass(frozen=True, slots=True)
class QueueDepths:
    """The depths of queues at one moment.

    Args:
        waiting: URLs that wait, by tenant.
        jobs: jobs that are not over, by state.
        workers: processes, by role.
        deliveries: those that are due or will be, counted up to a limit.
        seed_tasks: raw files and domains, by tenant, which of both, and state.
        dead_letters: by tenant.
        chunks: measures of the newest finished crawls, by tenant, collection and measure.
    """

    waiting: dict[str, int]
    jobs: dict[str, int]
    workers: dict[str, int]
    deliveries: int
    seed_tasks: dict[tuple[str, ...], float]
    dead_letters: dict[tuple[str, ...], float]
    chunks: dict[tuple[str, ...], float]


async def measure_depths(service: Service) -> QueueDepths:
    """Ask the store."""
    store, now_s = service.home.store, service.home.world.clock.now_s()
    active = await store.roster.active(MOST_JOBS)
    waiting: Counter[str] = Counter()
    for tenant, job in active:
        outlook = await service.desk(tenant).world.store.census.outlook(job, now_s=now_s)
        waiting[tenant] += outlook.pending
    standings = {
        tenant: await seeds.standing(service.desk(tenant), EVERYTHING)
        for tenant in service.datasets
    }
    later = await store.due_values.due(
        deliveries.NAMESPACE, wall_s=float("inf"), limit=MOST_DELIVERIES
    )
    return QueueDepths(
        waiting=dict(waiting),
        jobs={
            "waiting": len(await store.roster.waiting(MOST_JOBS)),
            "processing": len(active),
            "finalizing": len(await store.roster.finalizing(MOST_JOBS)),
        },
        workers=dict(Counter(str(card.role) for card in await store.workers.list())),
        deliveries=len(later),
        seed_tasks={
            (tenant, kind, state): getattr(getattr(standing, kind), state)
            for tenant, standing in standings.items()
            for kind in ("files", "domains")
            for state in COUNTED
        },
        dead_letters={(tenant,): standing.dead_letters for tenant, standing in standings.items()},
        chunks=await _chunks(service),
    )


async def _chunks(service: Service) -> dict[tuple[str, ...], float]:
    found: dict[tuple[str, ...], float] = {}
    for tenant in await tenants.all_names(service):
        for kept in await chunk_values(service.desk(tenant)).every():
            for one in check(kept.value):
                if one.value is not None:
                    found[tenant, kept.name, one.measure] = one.value
        if len(found) > MOST_CHUNK_SERIES:
            break
    return found
