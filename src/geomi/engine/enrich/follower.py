"""Follow the committed captures of a job at its own pace; a crawl never waits for it.

The store lends captures in shares, so any number of processes do this work for one job, and none
does what another has done. A process renews its share while it works. The work on a share comes
first, then the share ends. If a process is killed in between, another gets the share and does it
again, so doing the work twice must give the same result.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

from geomi.engine.worker.leader import RENEW_SHARE
from geomi.engine.world import World
from geomi.errors import BytesMissing, LeaseLost
from geomi.model.page import CaptureRow, CaptureShare

PAGES_PER_SHARE = 32

ReadCapture = tuple[CaptureRow, bytes]  # a capture and its record


class CaptureFollower:
    """One kind of work on the captures of one job.

    Args:
        name: of the work; under another name it begins again with the first capture.
        pages: how many captures are lent at once; a process that is killed loses the work on them.
        behind: the name of another work that has to be done with a capture before.
    """

    def __init__(
        self,
        world: World,
        job: str,
        name: str,
        work: Callable[[Sequence[ReadCapture]], Awaitable[None]],
        *,
        pages: int = PAGES_PER_SHARE,
        behind: str = "",
    ) -> None:
        self._world = world
        self._job = job
        self.name = name
        self._work = work
        self._pages = pages
        self._behind = behind

    async def catch_up(self, leave: asyncio.Event) -> int:
        """Work on all that was collected so far and that no other process has; return how many.

        Args:
            leave: ends it after the share under way.
        """
        done = 0
        while not leave.is_set() and (share := await self._claim()) is not None:
            many = await self._work_on(share)
            done += many
            if many < len(share.captures):  # the bytes of the next one are not here yet
                break
        return done

    async def is_behind(self) -> bool:
        """Return whether any capture waits, or is worked on."""
        return await self._world.store.shares.is_behind(self._job, self.name)

    async def rewind(self) -> None:
        """Begin again with the first capture."""
        await self._world.store.shares.rewind(self._job, self.name)

    async def _claim(self) -> CaptureShare | None:
        now_s = self._world.clock.now_s()
        return await self._world.store.shares.claim(
            self._job,
            self.name,
            owner=self._world.owner,
            until_s=now_s + self._world.silence_s,
            now_s=now_s,
            many=self._pages,
            behind=self._behind,
        )

    async def _work_on(self, share: CaptureShare) -> int:
        """Do the work on a share; return how many captures that were."""
        done = share.after
        try:
            read = [one async for one in self._read(share.captures)]
            if read and not await self._work_in_time(share, read):
                return 0
            is_whole = len(read) == len(share.captures)
            done = share.last if is_whole else read[-1][0].seq if read else share.after
            return len(read)
        finally:
            # Refused where it was lost meanwhile, or its captures were: they are worked on again.
            await self._world.store.shares.settle(share, done)

    async def _work_in_time(self, share: CaptureShare, read: Sequence[ReadCapture]) -> bool:
        """Work while the share is renewed; stop where it is lost: another works on it."""
        is_ours = True
        try:
            async with asyncio.TaskGroup() as group:
                keeping = group.create_task(self._keep(share), name="share")
                await self._work(read)
                keeping.cancel()
        except* LeaseLost:
            is_ours = False
        except* Exception as failures:
            raise failures.exceptions[0] from failures
        return is_ours

    async def _keep(self, share: CaptureShare) -> None:
        """Renew a share; raise when it is lost."""
        silence_s, is_ours = self._world.silence_s, True
        while is_ours:
            await asyncio.sleep(silence_s * RENEW_SHARE)
            until_s = self._world.clock.now_s() + silence_s
            is_ours = await self._world.store.shares.renew(share, until_s=until_s)
        raise LeaseLost(f"another process works on pages of job {share.job}")

    async def _read(self, captures: Sequence[CaptureRow]) -> AsyncIterator[ReadCapture]:
        """Read records up to the first that a worker elsewhere has not sent yet."""
        for row in captures:
            try:
                yield row, await self._world.archive.read(row.record)
            except BytesMissing:
                return
