"""The tasks that a service does without a request; one process at a time does them.

Each task reads the store again and again, so that a process that takes over continues the work. A
task that fails is reported once and tried again; the others continue.
"""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass

from geomi.app.use.crawl import refuse_unservable
from geomi.app.use.ranks import refresh_due_ranks
from geomi.app.use.retention import CLEAN_EVERY_S, clean
from geomi.engine import recrawl, watching
from geomi.engine.visit.preview_text import erase_expired_texts
from geomi.engine.worker.leader import Leadership
from geomi.errors import GeomiError, StoreBusy, StoreError
from geomi.model.event import Warned
from geomi.service import alarms, deliveries, provider_runs, providers
from geomi.service.access import tenants
from geomi.service.crawling import crawls, schedules
from geomi.service.crawling.crawls import begin_waiting
from geomi.service.service import Service, TenantService

DUTY = "tasks of the service"
MOST_AT_ONCE = 100
# What was found holds for a day; a source that could not be asked is asked again after this long.
PROVIDER_CHECK_S = 3600.0
RANKS_CHECK_S = 600.0  # whether a day is over


@dataclass(frozen=True, slots=True)
class BackgroundTask:
    """Something that is done every so often; what it returns is how much there was."""

    name: str
    every_s: float
    work: Callable[[Service], Awaitable[int]]


async def fire_schedules(service: Service) -> int:
    """Start the crawls of schedules that are due."""
    wall_s = service.office.wall_s
    due = await service.home.store.due_values.due(
        schedules.NAMESPACE, wall_s=wall_s, limit=MOST_AT_ONCE
    )
    for named in due:
        await schedules.start_due(service, named)
    return len(due)


async def visit_crawls_again(service: Service) -> int:
    """Plan the crawls that are to be looked at, and start recrawls of those with pages due.

    A recrawl is only written down here. It begins when its tenant may run another crawl.
    """
    found = await service.home.store.roster.watched(
        wall_s=service.office.wall_s, limit=MOST_AT_ONCE, is_served=True
    )
    for tenant, name in found:
        await _visit_again(service.desk(tenant), name)
    return 0


async def _visit_again(desk: TenantService, name: str) -> None:
    crawl = await desk.world.store.jobs.get(name)
    plan = await watching.look(desk.world, crawl) if crawl else None
    if crawl is None or plan is None or plan.run is not None:
        return
    try:
        refuse_unservable(desk.home, crawl)
        await crawls.refuse_crowd(desk)
        await recrawl.draft(desk.world, crawl, watching.wish_of(plan.left))
    except StoreBusy:
        return  # another process is at it; the next look is written down already
    except StoreError:
        raise
    except GeomiError as error:
        await watching.put_off(desk.world, crawl, error)


async def clean_up(service: Service) -> int:
    """Delete expired data: crawls of tenants, and texts that wait in the spool."""
    await erase_expired_texts(service.home.world)
    for tenant in await tenants.every(service):
        with suppress(StoreBusy):  # whoever else is at it does the same
            await clean(service.desk(tenant.name).home)
    return 0


async def refresh_ranks(service: Service) -> int:
    """Import a newer rank list, if the one in force came from a URL, once a day at most."""
    await refresh_due_ranks(service.home)
    return 0


BACKGROUND_TASKS = (
    BackgroundTask("begin crawls", 0.25, begin_waiting),
    BackgroundTask("fire schedules", 1.0, fire_schedules),
    BackgroundTask("visit crawls again", 2.0, visit_crawls_again),
    BackgroundTask("tell hooks", 0.5, deliveries.queue_deliveries),
    BackgroundTask("deliver", 0.5, deliveries.send_due),
    BackgroundTask("keep sessions within their limit", 2.0, provider_runs.watch_sessions),
    BackgroundTask("look for alarms", 30.0, alarms.check_crawls),
    BackgroundTask(
        "look for providers at Context7", PROVIDER_CHECK_S, providers.check_due_providers
    ),
    BackgroundTask("refresh the rank list", RANKS_CHECK_S, refresh_ranks),
    BackgroundTask("look for alarms of datasets", 30.0, alarms.check_datasets),
    BackgroundTask("clean up", CLEAN_EVERY_S, clean_up),
)


async def run_background_tasks(service: Service) -> None:
    """Do what is to be done until cancelled."""
    duty = Leadership(service.home.world, DUTY)
    try:
        async with asyncio.TaskGroup() as group:
            for chore in BACKGROUND_TASKS:
                group.create_task(_repeat(service, chore, duty), name=chore.name)
    finally:
        with suppress(StoreError):  # it runs out by itself
            await duty.drop()


async def _repeat(service: Service, chore: BackgroundTask, duty: Leadership) -> None:
    told: Warned | None = None
    while True:
        many, problem = 0, None
        try:
            if await duty.take():
                many = await chore.work(service)
        except GeomiError as error:  # a store that is away, or full, comes back
            message = f"could not {chore.name}: {error.message}"
            problem = Warned("", message, error.hint)
        except Exception:  # a fault of ours in one chore must not end the service
            problem = Warned("", f"could not {chore.name}: {traceback.format_exc()}")
        if problem is not None and problem != told:
            service.home.world.sink.emit(problem)
        told = problem
        if not many:
            await asyncio.sleep(chore.every_s)
