"""The seed engine for tenants: start it, show its progress, and retry dead letters.

A setting of the process assigns datasets to tenants; a tenant cannot choose. If the work on a
dataset fails, the service waits longer each time before it tries again; other datasets do not
wait.
"""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Sequence

from geomi.app.directory import DataDirectory
from geomi.app.recovery import recover
from geomi.app.use.datasets import seed_config, seeding_for
from geomi.engine.seeds import dead_letters
from geomi.engine.seeds.context import SeedContext
from geomi.engine.seeds.orchestrate import orchestrate as send_files
from geomi.engine.seeds.queue import work_on_queues
from geomi.engine.seeds.report import DatasetProgress, read_progress
from geomi.engine.worker.heartbeat import with_heartbeat
from geomi.engine.world import wait_for_event
from geomi.errors import ConfigError, GeomiError, UnknownName
from geomi.model.dataset.queue import DeadLetter
from geomi.model.dataset.seed import OrchestrationReport, PartitionFilter
from geomi.model.event import Warned
from geomi.model.worker import WorkerRole
from geomi.service.access import tenants
from geomi.service.service import Service, TenantService

# How long nobody works on a dataset that could not be worked on: its bucket may be away. Twice as
# long each time that it cannot again: where its disk is full, servers were asked for nothing.
AGAIN_S = 10.0
LONGEST_AGAIN_S = 320.0


def has_dataset(desk: TenantService) -> bool:
    """Return whether a tenant has a dataset here."""
    return desk.tenant in desk.service.datasets


async def unknown_tenants(service: Service) -> list[str]:
    """Return names of datasets without a tenant: no key can reach them."""
    known = {tenant.name for tenant in await tenants.every(service)}
    return sorted(service.datasets.keys() - known)


def seeding_of(desk: TenantService) -> SeedContext:
    """Return a tenant's dataset and what works on it; `UnknownName` where it has none."""
    dataset = desk.service.datasets.get(desk.tenant)
    if dataset is None:
        raise UnknownName(
            "this tenant has no dataset",
            hint=f"the operator can set one with GEOMI_DATASETS={desk.tenant}=URL",
        )
    return seeding_for(desk.home, seed_config(desk.service.settings), dataset)


async def orchestrate(
    desk: TenantService, which: PartitionFilter, *, force: bool
) -> OrchestrationReport:
    """Send raw files to be processed (SED-16); one at a time for each tenant."""
    seeding = seeding_of(desk)
    settings = desk.service.settings
    if not settings.contact and not settings.allow_private:  # LEG-08
        raise ConfigError(
            "the domains are on public hosts, and no contact address is set",
            hint="start the service with GEOMI_CONTACT, a URL or an e-mail address",
        )
    with desk.orchestrations.taken():
        return await send_files(seeding, which, force=force)


async def standing(desk: TenantService, which: PartitionFilter) -> DatasetProgress:
    """Say how far a tenant's dataset is."""
    return await read_progress(seeding_of(desk), which)


async def page(desk: TenantService, *, after: str, limit: int) -> Sequence[DeadLetter]:
    """List dead letters in the order of their ids, for paging."""
    seeding = seeding_of(desk)
    return await seeding.queues.dead(seeding.dataset.name, after=after, limit=limit)


async def dead_letter(desk: TenantService, name: str) -> DeadLetter:
    """Find a dead letter."""
    return await dead_letters.find(seeding_of(desk), name)


async def retry(desk: TenantService, name: str) -> None:
    """Let a dead letter be tried again."""
    await dead_letters.retry(seeding_of(desk), name)


async def drop(desk: TenantService, name: str) -> None:
    """Forget a dead letter."""
    await dead_letters.drop(seeding_of(desk), name)


async def work_for_all(home: DataDirectory, leave: asyncio.Event) -> None:
    """Work on the datasets of all tenants, until a signal ends it."""
    await recover(home)
    service = Service(home)
    config = seed_config(home.settings)
    await home.heart.enrol(WorkerRole.WORKER, [config])
    await with_heartbeat(home.heart, _all(service, leave))


async def _all(service: Service, leave: asyncio.Event) -> None:
    async with asyncio.TaskGroup() as group:
        for tenant in service.datasets:
            group.create_task(_one(service.desk(tenant), leave), name=f"seeds of {tenant}")
        await leave.wait()


async def _one(desk: TenantService, leave: asyncio.Event) -> None:
    """Work on one dataset; whatever is wrong with it costs the others nothing."""
    told: Warned | None = None
    again_s = 0.0
    while not leave.is_set():
        problem, began_s = None, asyncio.get_running_loop().time()
        try:
            await work_on_queues(seeding_of(desk), leaving=leave, is_done_when_empty=False)
        except GeomiError as error:  # a bucket or a store that is away comes back
            message = f"cannot work on the dataset of tenant {desk.tenant}: {error.message}"
            problem = Warned("", message, error.hint)
        except Exception:  # a fault of ours with one dataset must not end the others
            trace = traceback.format_exc()
            problem = Warned("", f"cannot work on the dataset of tenant {desk.tenant}: {trace}")
        if problem is not None and problem != told:
            desk.world.sink.emit(problem)
        told = problem
        again_s = rest_before_retry_s(again_s, asyncio.get_running_loop().time() - began_s)
        await wait_for_event(leave, again_s)


def rest_before_retry_s(before_s: float, worked_s: float) -> float:
    """Return how long a dataset rests that could be worked on for so long after the rest before."""
    if worked_s > LONGEST_AGAIN_S:
        return AGAIN_S
    return min(max(AGAIN_S, before_s * 2), LONGEST_AGAIN_S)
