"""Follow the committed captures of a job at its own pace; a crawl never waits for it.

One process at a time leads this work. The work on a batch comes first, then the cursor moves. If a
process is killed in between, the next one does the batch again, so doing the work twice must give
the same result.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

from geomi.engine.worker.leader import Leadership
from geomi.engine.world import World
from geomi.errors import BytesMissing
from geomi.model.page import CaptureRow

PAGES_PER_TURN = 32

ReadCapture = tuple[CaptureRow, bytes]  # a capture and its record


class CaptureFollower:
    """One kind of work on the captures of one job.

    Args:
        name: of the work; under another name it begins again with the first capture.
    """

    def __init__(
        self,
        world: World,
        job: str,
        name: str,
        work: Callable[[Sequence[ReadCapture]], Awaitable[None]],
    ) -> None:
        self._world = world
        self._job = job
        self._cursor = name
        self._work = work
        self._leadership = Leadership(world, f"{name} of {job}")

    async def catch_up(self, leave: asyncio.Event) -> int:
        """Work on all that was collected so far; return how many captures that were.

        Args:
            leave: ends it after the batch under way.
        """
        done = 0
        while not leave.is_set() and await self.is_behind() and await self._leadership.take():
            many = await self._turn()
            if not many:  # the bytes of the next one are not here yet
                break
            done += many
        await self._leadership.drop()
        return done

    async def is_behind(self) -> bool:
        """Return whether any capture waits; without one, no process leads."""
        after, _ = await self._world.store.pages.cursor(self._job, self._cursor)
        return bool(await self._world.store.pages.feed(self._job, after=after, limit=1))

    async def rewind(self) -> None:
        """Begin again with the first capture."""
        after, _ = await self._world.store.pages.cursor(self._job, self._cursor)
        await self._world.store.pages.advance(self._job, self._cursor, after=after, seq=0, length=0)

    async def _turn(self) -> int:
        """Take one batch through; return how many captures it had."""
        pages = self._world.store.pages
        after, done = await pages.cursor(self._job, self._cursor)
        captures = await pages.feed(self._job, after=after, limit=PAGES_PER_TURN)
        read = [one async for one in self._read(captures)]
        if not read:
            return 0
        await self._work(read)
        seq, length = read[-1][0].seq, done + len(read)
        # Refused where captures were lost meanwhile: the cursor is at its beginning again.
        await pages.advance(self._job, self._cursor, after=after, seq=seq, length=length)
        return len(read)

    async def _read(self, captures: Sequence[CaptureRow]) -> AsyncIterator[ReadCapture]:
        """Read records up to the first that a worker elsewhere has not sent yet."""
        for row in captures:
            try:
                yield row, await self._world.archive.read(row.record)
            except BytesMissing:
                return
