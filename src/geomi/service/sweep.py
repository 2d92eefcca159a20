"""What lies in a drawer for a time only goes when that is over, a few at each new one."""

from __future__ import annotations

from geomi.service.open import Service

SWEPT = 20


async def sweep(service: Service, drawer: str) -> None:
    """Forget some slips whose time is over, whosever they are."""
    wall_s = service.office.wall_s
    for slip in await service.home.store.due_slips.due(drawer, wall_s=wall_s, limit=SWEPT):
        await service.desk(slip.tenant).slips.remove(slip)
