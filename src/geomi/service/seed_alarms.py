"""What of tenants' datasets a person has to know (MON-15): an alarm fires once, and clears.

Which alarms fire now is written down beside the alarms themselves: whoever follows a process that
died knows what was told, and a figure that leaves its bounds again is a new alarm.
"""

from __future__ import annotations

from geomi.engine.inspect.alarms import Alarm
from geomi.engine.seeds.report import EVERYTHING, judge_seeds
from geomi.service import alarms, seeds
from geomi.service.alarms import KeptAlarm
from geomi.service.drawer import Drawer
from geomi.service.open import Desk, Service

DRAWER = "alarms-firing"


async def look(service: Service) -> int:
    """Look at every tenant's dataset; the answer is that nothing more is to be done now."""
    for tenant in service.datasets:
        desk = service.desk(tenant)
        found = judge_seeds(await seeds.standing(desk, EVERYTHING))
        await _tell(desk, {_name(desk, alarm): alarm for alarm in found})
    return 0


async def _tell(desk: Desk, found: dict[str, Alarm]) -> None:
    firing = Drawer(desk.slips, DRAWER, KeptAlarm)
    for name, alarm in found.items():
        own_id = f"{desk.new_id()}-{name}"  # as a crawl's: by its time
        dataset = desk.service.datasets[desk.tenant].name
        await firing.add(name, KeptAlarm(own_id, desk.wall_s, "", "", alarm, dataset))
    for kept in await firing.every():
        if kept.name in found:
            await alarms.keep(desk, kept.value)
        else:
            await alarms.clear(desk, kept.value.id)
            await firing.remove(kept.name)


def _name(desk: Desk, alarm: Alarm) -> str:
    return alarms.digest_of(alarm, desk.service.datasets[desk.tenant].name)
