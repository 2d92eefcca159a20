"""Write the derived outputs of a job from committed captures, beside the crawl.

One reader follows the committed captures and hands their records to each output. Its cursor and
length are committed after the bytes are written. After a crash, everything beyond the committed
length is cut off. An output that lost bytes, or whose captures were lost, is written again from
the start. It waits for records that a worker of another machine has not uploaded yet.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Protocol

from geomi.engine.world import World, wait_for_event
from geomi.errors import BytesMissing
from geomi.model.page import CaptureRow

PAGES_PER_TURN = 200
TURN_S = 0.25


class Outlet(Protocol):
    """One derived output of a job; `name` is its key in the store."""

    name: str

    def open(self, committed: int) -> bool:
        """Prepare to continue after `committed`; False if that is lost."""
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
        self._is_strict = False

    async def run(self) -> None:
        """Follow the job until `end`, then write what is left."""
        for outlet in self._outlets:
            await self._open(outlet)
        try:
            while not self._ending.is_set():
                await self._catch_up()
                await wait_for_event(self._ending, TURN_S)
            await self._heed_rewinds()
            await self._catch_up()
        finally:
            for outlet in self._outlets:
                outlet.close()

    def end(self, *, is_whole: bool = True) -> None:
        """Let `run` write the rest and return; what is not there may be missing unless `is_whole`.

        The next publisher of the job writes the rest.
        """
        self._is_strict = is_whole
        self._ending.set()

    async def _open(self, outlet: Outlet) -> None:
        seq, length = await self._world.store.pages.cursor(self._job, outlet.name)
        if not outlet.open(length):
            outlet.open(0)
            await self._world.store.pages.advance(
                self._job, outlet.name, after=seq, seq=0, length=0
            )
            seq = 0
        self._cursors[outlet.name] = seq
        self._read_after = -1

    async def _heed_rewinds(self) -> None:
        """Open what was rewound since its last page; nothing may have come after."""
        for outlet in self._outlets:
            seq, _ = await self._world.store.pages.cursor(self._job, outlet.name)
            if seq != self._cursors[outlet.name]:
                await self._open(outlet)

    async def _catch_up(self) -> None:
        for outlet in self._outlets:
            while await self._turn(outlet):
                pass

    async def _turn(self, outlet: Outlet) -> bool:
        """Write one batch; say whether there may be more."""
        after = self._cursors[outlet.name]
        last_seq, records = await self._read(after=after)
        if not records:
            return False
        length = outlet.write(records)
        is_kept = await self._world.store.pages.advance(
            self._job, outlet.name, after=after, seq=last_seq, length=length
        )
        if is_kept:
            self._cursors[outlet.name] = last_seq
        else:
            await self._open(outlet)
        return True  # a short batch may be one that was read for another output, some commits ago

    async def _read(self, *, after: int) -> tuple[int, list[bytes]]:
        """Read the captures after a cursor; outputs in step with each other share one reading."""
        if after != self._read_after or not self._read_records:
            rows = await self._world.store.pages.feed(self._job, after=after, limit=PAGES_PER_TURN)
            self._read_after, self._read_seq, self._read_records = after, after, []
            await self._read_rows(rows)
        return self._read_seq, self._read_records

    async def _read_rows(self, rows: Sequence[CaptureRow]) -> None:
        for row in rows:
            try:
                record = await self._world.archive.read(row.record)
            except BytesMissing:
                if self._is_strict:
                    raise
                return
            self._read_seq = row.seq
            self._read_records.append(record)
