"""Derived outputs: one reader follows the committed captures of a job and hands their records on.

An output never runs ahead of the store. Its cursor and length are committed after the bytes are
written; what a crash leaves behind the committed length is cut off, and an output that lost bytes
is written again from the beginning.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Protocol

from geomi.engine.world import World

PAGES_PER_TURN = 200
TURN_S = 0.25


class Outlet(Protocol):
    """One derived output of a job; `name` is its key in the store."""

    name: str

    def open(self, committed: int) -> bool:
        """Make ready to go on after `committed`; False when that is lost: all is written anew."""
        ...

    def write(self, records: Sequence[bytes]) -> int:
        """Write records and return the new committed length."""
        ...

    def close(self) -> None:
        """Finish."""
        ...


class Publisher:
    """Writes the outputs of one job, behind the crawl and never ahead of it."""

    def __init__(self, world: World, job: str, outlets: Sequence[Outlet]) -> None:
        self._world = world
        self._job = job
        self._outlets = tuple(outlets)
        self._cursors: dict[str, int] = {}
        self._read_after = self._read_seq = -1
        self._read_records: list[bytes] = []
        self._ending = asyncio.Event()

    async def run(self) -> None:
        """Follow the job until `end`, then write what is left."""
        for outlet in self._outlets:
            await self._open(outlet)
        try:
            while not self._ending.is_set():
                await self._catch_up()
                await self._rest()
            await self._catch_up()
        finally:
            for outlet in self._outlets:
                outlet.close()

    def end(self) -> None:
        """Let `run` write the rest and return."""
        self._ending.set()

    async def _open(self, outlet: Outlet) -> None:
        seq, length = await self._world.pages.cursor(self._job, outlet.name)
        if not outlet.open(length):
            outlet.open(0)
            seq = 0
        self._cursors[outlet.name] = seq

    async def _catch_up(self) -> None:
        for outlet in self._outlets:
            while await self._turn(outlet):
                pass

    async def _turn(self, outlet: Outlet) -> bool:
        """Write one batch; say whether there may be more."""
        last_seq, records = await self._read(after=self._cursors[outlet.name])
        if not records:
            return False
        length = outlet.write(records)
        self._cursors[outlet.name] = last_seq
        await self._world.pages.advance(self._job, outlet.name, seq=last_seq, length=length)
        return len(records) == PAGES_PER_TURN

    async def _read(self, *, after: int) -> tuple[int, list[bytes]]:
        """Read the captures after a cursor; outputs in step with each other share one reading."""
        if after != self._read_after or not self._read_records:
            rows = await self._world.pages.feed(self._job, after=after, limit=PAGES_PER_TURN)
            self._read_after = after
            self._read_seq = rows[-1].seq if rows else after
            self._read_records = [await self._world.archive.read(row.record) for row in rows]
        return self._read_seq, self._read_records

    async def _rest(self) -> None:
        try:
            async with asyncio.timeout(TURN_S):
                await self._ending.wait()
        except TimeoutError:
            pass
