"""One time for all processes of a store, also when a clock is set while they work.

The file of one machine has the machine's own time. In a database everybody goes by the server's,
compares with it at every beat, and takes back together what somebody did to it (`adapters/clock`).
A process that comes while the server's clock has just been set ahead would take every lease for
over: where it finds workers that seem dead it first listens whether one of them still beats.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from geomi.adapters.machine.clock import MOST_DRIFT_S, SystemClock, keep_time
from geomi.adapters.sqlite import SqliteStore
from geomi.engine.worker.heartbeat import BEATS_PER_SILENCE
from geomi.ports.workers import Workers

if TYPE_CHECKING:
    from geomi.app.store import Store

# A worker that lives beats once in this many of its beats' time, whatever its machine is busy with.
BEATS_TO_LISTEN = 2
LOOK_S = 0.2


async def keep_clock(store: Store, clock: SystemClock, owner: str) -> float:
    """Put a process's clock right where need be; return how far the server's had jumped."""
    if isinstance(store, SqliteStore):
        return 0.0

    async def beats_s() -> list[float]:
        return [card.beat_s for card in await store.workers.list() if card.owner != owner]

    return await keep_time(clock, store, beats_s)


async def agree(store: Store, clock: SystemClock, *, silence_s: float) -> None:
    """Go by the time of those who work already, before anything is claimed."""
    if isinstance(store, SqliteStore):
        return
    before = {card.owner: card.beat_s for card in await store.workers.list()}
    seems_dead = [beat_s for beat_s in before.values() if clock.now_s() - beat_s > silence_s]
    if not seems_dead:
        return
    beat_s = await _next_beat_s(store.workers, before, silence_s)
    behind_s = 0.0 if beat_s is None else clock.now_s() - beat_s
    if behind_s > MOST_DRIFT_S:
        found = await store.compare(clock.now_s)
        offset_s = found.offset_s + found.ahead_s - behind_s
        await store.set_offset(offset_s, instead_of=found.offset_s)
        clock.set_back(-(await store.compare(clock.now_s)).ahead_s)


async def _next_beat_s(
    workers: Workers, before: dict[str, float], silence_s: float
) -> float | None:
    """Return the first beat that comes while we listen."""
    for _ in range(int(BEATS_TO_LISTEN * silence_s / BEATS_PER_SILENCE / LOOK_S) + 1):
        for card in await workers.list():
            if card.beat_s > before.get(card.owner, card.beat_s):
                return card.beat_s
        await asyncio.sleep(LOOK_S)
    return None
