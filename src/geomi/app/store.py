"""Open the store of a data directory, and keep the clock that all its processes share.

The store is a SQLite file in the directory, or the database that the setting `db` names.
PostgreSQL is an extra: its code is imported only if the setting names such a database.

With a SQLite file the processes use the time of their machine. With a database all processes use
the server's time: they compare clocks at every heartbeat, and correct a jump of the server's clock
together. A process that starts while the server's clock is ahead would take every lease for
expired. So if workers seem dead, it first waits for a heartbeat of one of them
(`ServerTime.agree`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from geomi.adapters.machine.clock import (
    MOST_DRIFT_S,
    SystemClock,
    keep_time,
    open_clock,
    open_shared_clock,
)
from geomi.adapters.store.store import open_postgres, open_sqlite
from geomi.engine.worker.heartbeat import BEATS_PER_SILENCE
from geomi.errors import StoreMissing
from geomi.ports.runtime import ServerClock, SharedTime
from geomi.ports.store import Store
from geomi.ports.workers import Workers
from geomi.settings.options import Settings

TENANT = "local"  # the embedded command line's own tenant; it has no quota
DATABASE = "geomi.db"
# A worker that lives beats once in this many of its beats' time, whatever its machine is busy with.
BEATS_TO_LISTEN = 2
BEAT_POLL_S = 0.2


def has_store(root: Path, settings: Settings) -> bool:
    """Whether there is something to open, as far as can be seen without opening it."""
    return bool(settings.db) or (root / DATABASE).is_file()


def open_store(
    root: Path, settings: Settings, *, create: bool = True, waits: bool = False
) -> Store:
    """Open the store of a data directory; create a missing one if `create` is set.

    Args:
        waits: wait for a server that is away; for a person, fail at once.
    """
    store = _open(root, settings, create=create, waits=waits)
    store.frontier.max_queued = settings.max_queued or 0
    return store


def clock_of(store: Store) -> SystemClock:
    """Return the clock that every process of a store shares."""
    if store.server_clock is None:
        return open_clock(store)
    return open_shared_clock(store.server_clock, least_s=store.greatest_end_s())


def owners_here(store: Store) -> Sequence[str] | None:
    """Name the owners of leases, where all of them belong to this directory: in a file.

    None for a shared database: who holds a lease there may live on another machine.
    """
    return store.lease_owners() if store.server_clock is None else None


def _open(root: Path, settings: Settings, *, create: bool, waits: bool) -> Store:
    if settings.db:
        return open_postgres(settings.db, tenant=TENANT, create=create, waits=waits)
    if not create and not (root / DATABASE).is_file():
        raise StoreMissing(f"`{root}` has no geomi data", hint="give the directory with -o DIR")
    return open_sqlite(root / DATABASE, tenant=TENANT)


def shared_time(store: Store, clock: SystemClock, *, owner: str, silence_s: float) -> SharedTime:
    """Return what keeps a process's clock at one with the others of its store."""
    if store.server_clock is None:
        return MachineTime()
    return ServerTime(store.workers, store.server_clock, clock, owner=owner, silence_s=silence_s)


class MachineTime:
    """`ports.runtime.SharedTime` of a file: its processes read one clock already."""

    async def agree(self) -> None:
        """Do nothing."""

    async def correct(self) -> float:
        """Find nothing wrong."""
        return 0.0


class ServerTime:
    """`ports.runtime.SharedTime` of a database server, whose machines have clocks of their own."""

    def __init__(
        self,
        workers: Workers,
        server: ServerClock,
        clock: SystemClock,
        *,
        owner: str,
        silence_s: float,
    ) -> None:
        self._workers = workers
        self._server = server
        self._clock = clock
        self._owner = owner
        self._silence_s = silence_s

    async def correct(self) -> float:
        """Put the clock right where need be; return how far the server's had jumped."""
        return await keep_time(self._clock, self._server, self._beats_s)

    async def agree(self) -> None:
        """Go by the time of those who work already, before anything is claimed."""
        server, clock = self._server, self._clock
        before = {card.owner: card.beat_s for card in await self._workers.list()}
        is_silent = [clock.now_s() - beat_s > self._silence_s for beat_s in before.values()]
        if not any(is_silent):
            return
        beat_s = await self._next_beat_s(before)
        behind_s = 0.0 if beat_s is None else clock.now_s() - beat_s
        if behind_s > MOST_DRIFT_S:
            found = await server.compare(clock.now_s)
            offset_s = found.offset_s + found.ahead_s - behind_s
            await server.set_offset(offset_s, instead_of=found.offset_s)
            clock.set_back(-(await server.compare(clock.now_s)).ahead_s)

    async def _beats_s(self) -> list[float]:
        """Return the last heartbeats of the others."""
        cards = await self._workers.list()
        return [card.beat_s for card in cards if card.owner != self._owner]

    async def _next_beat_s(self, before: dict[str, float]) -> float | None:
        """Return the first beat that comes while we listen."""
        listen_s = BEATS_TO_LISTEN * self._silence_s / BEATS_PER_SILENCE
        for _ in range(int(listen_s / BEAT_POLL_S) + 1):
            for card in await self._workers.list():
                if card.beat_s > before.get(card.owner, card.beat_s):
                    return card.beat_s
            await asyncio.sleep(BEAT_POLL_S)
        return None
