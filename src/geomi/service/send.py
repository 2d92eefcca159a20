"""Hooks are told: every step of a crawl becomes deliveries once, and a delivery is sent until it is
taken or given up.

Through the egress gate, as everything: an address that is not public is refused at each try,
whatever its name meant when the hook was made. A redirect is an answer and no success.
"""

from __future__ import annotations

import asyncio

import orjson

from geomi.model.job import JobEvent, JobState
from geomi.model.named_value import NamedValue
from geomi.service import alarms, deliveries, hooks
from geomi.service.deliveries import Attempt
from geomi.service.open import Desk, Service
from geomi.service.post import post
from geomi.service.rundown import tell_end

MOST_AT_ONCE = 32


async def tell(service: Service) -> int:
    """Turn steps that nobody was told of into deliveries; return how many steps there were."""
    untold = service.home.store.untold
    found = await untold.untold(MOST_AT_ONCE)
    for event in found:
        desk = service.desk(event.tenant)
        if _is_end(event):
            await alarms.look_at_end(desk, event.job)
            await tell_end(desk, event.job)
        slips = deliveries.of_event(desk, event, await hooks.every(desk))
        await untold.tell(event, slips)
    return len(found)


async def deliver_due(service: Service) -> int:
    """Try what is due; return how many deliveries that were."""
    wall_s = service.office.wall_s
    due = await service.home.store.due_slips.due(
        deliveries.DRAWER, wall_s=wall_s, limit=MOST_AT_ONCE
    )
    async with asyncio.TaskGroup() as group:
        for slip in due:
            group.create_task(_deliver(service.desk(slip.tenant), slip), name=slip.name)
    return len(due)


async def _deliver(desk: Desk, slip: NamedValue) -> None:
    delivery = deliveries.read(desk, slip)
    hook = await hooks.known(desk, delivery.hook)
    if hook is None:
        await deliveries.drop(desk, delivery)
        return
    headers = deliveries.signed_headers(hook, delivery, wall_s=desk.wall_s)
    headers["User-Agent"] = f"geomi/{desk.world.version}"
    answer = await post(desk.world.fetcher, hook.url, headers, delivery.body.encode())
    attempt = Attempt(desk.wall_s, answer.status, answer.problem)
    await deliveries.conclude(desk, delivery, attempt)


def _is_end(event: JobEvent) -> bool:
    return JobState(orjson.loads(event.body)["state"]).is_final
