"""What a service does by itself, beside answering: one process at a time has the duty of it.

Each chore looks again and again at what is written down, so that whoever follows a process that
died goes on where it was. A chore that fails is told, once, and tried again; it costs the others
nothing.
"""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass

from geomi.app.clean import EVERY_S, clean
from geomi.engine.visit.preview_text import erase_expired_texts
from geomi.engine.worker.leader import Leadership
from geomi.errors import GeomiError, StoreBusy, StoreError
from geomi.model.event import Warned
from geomi.service import (
    alarms,
    indexing,
    providers,
    schedules,
    seed_alarms,
    send,
    tenants,
)
from geomi.service.dispatch import dispatch
from geomi.service.open import Service

DUTY = "chores of the service"
MOST_AT_ONCE = 100
# What was found holds for a day; a source that could not be asked is asked again after this long.
CHECK_S = 3600.0


@dataclass(frozen=True, slots=True)
class Chore:
    """Something that is done every so often; what it returns is how much there was."""

    name: str
    every_s: float
    work: Callable[[Service], Awaitable[int]]


async def fire_schedules(service: Service) -> int:
    """Start the crawls of schedules that are due."""
    wall_s = service.office.wall_s
    due = await service.home.store.due_slips.due(
        schedules.DRAWER, wall_s=wall_s, limit=MOST_AT_ONCE
    )
    for slip in due:
        await schedules.fire(service, slip)
    return len(due)


async def clean_up(service: Service) -> int:
    """Let go what was to be kept for a time: tenants' crawls, and texts that wait in the spool."""
    await erase_expired_texts(service.home.world)
    for tenant in await tenants.every(service):
        with suppress(StoreBusy):  # whoever else is at it does the same
            await clean(service.desk(tenant.name).home)
    return 0


CHORES = (
    Chore("begin crawls", 0.25, dispatch),
    Chore("fire schedules", 1.0, fire_schedules),
    Chore("tell hooks", 0.5, send.tell),
    Chore("deliver", 0.5, send.deliver_due),
    Chore("keep sessions in their limit", 2.0, indexing.keep_limit),
    Chore("look for alarms", 30.0, alarms.look),
    Chore("look for providers at Context7", CHECK_S, providers.check),
    Chore("look for alarms of datasets", 30.0, seed_alarms.look),
    Chore("clean up", EVERY_S, clean_up),
)


async def do_chores(service: Service) -> None:
    """Do what is to be done until cancelled."""
    duty = Leadership(service.home.world, DUTY)
    try:
        async with asyncio.TaskGroup() as group:
            for chore in CHORES:
                group.create_task(_do(service, chore, duty), name=chore.name)
    finally:
        with suppress(StoreError):  # it runs out by itself
            await duty.drop()


async def _do(service: Service, chore: Chore, duty: Leadership) -> None:
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
