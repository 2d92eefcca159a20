"""Let one process of many lead: it does a named piece of work while it renews its duty.

The leader of a job notes the seconds worked and ends the job when nothing is left. The leader of
`reap` releases what dead processes held. When a leader is gone, the next process that asks takes
over, after the time of silence.
"""

from __future__ import annotations

from geomi.engine.world import World

REAP = "reap"
# A claim is renewed when this share of its time is over, so that a busy leader keeps it.
RENEW_SHARE = 1 / 3


class Leadership:
    """The leadership of one piece of work, as one process sees it."""

    def __init__(self, world: World, name: str) -> None:
        self._world = world
        self._name = name
        self._until_s = float("-inf")
        self.holder = ""

    async def take(self) -> bool:
        """Take or keep the lead; False while another holds it."""
        now_s, silence_s = self._world.clock.now_s(), self._world.silence_s
        if self.is_ours and self._until_s - now_s > silence_s * (1 - RENEW_SHARE):
            return True
        until_s = now_s + silence_s
        self.holder = await self._world.store.workers.take(
            self._name, owner=self._world.owner, until_s=until_s, now_s=now_s
        )
        self._until_s = until_s if self.is_ours else float("-inf")
        return self.is_ours

    async def drop(self) -> None:
        """Leave it to others."""
        if self.is_ours:
            self.holder, self._until_s = "", float("-inf")
            await self._world.store.workers.drop(self._name, owner=self._world.owner)

    async def relieve(self, holder: str) -> None:
        """End the lead of another process; it learns of that when it wants to renew it."""
        await self._world.store.workers.drop(self._name, owner=holder)

    @property
    def is_ours(self) -> bool:
        """Whether it was ours when it was last asked for."""
        return self.holder == self._world.owner


def job_leadership(world: World, job: str) -> Leadership:
    """Return the leadership of a job."""
    return Leadership(world, f"job {job}")
