"""A task in hand: its loan is renewed while somebody works on it, and the work ends with the loan.

A worker that was away for too long, or whose store was, finds its loan lent to somebody else. Then
its handler is stopped and nothing is settled: whoever has the loan now answers for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

from geomi.engine.host.lease import hear_every_s
from geomi.engine.seeds.context import Held, Seeding
from geomi.engine.worker.heartbeat import BEATS_PER_SILENCE
from geomi.errors import LeaseLost, StoreError
from geomi.model.message import Loan, Message, Worked

Handler = Callable[[Seeding, Held], Awaitable[Worked]]


class Hand:
    """A loan of this process, as long as it is one."""

    def __init__(self, seeding: Seeding, loan: Loan) -> None:
        self._seeding = seeding
        self._clock = seeding.world.clock
        self._lease_s = seeding.world.silence_s
        self._renewed_s = loan.until_s - self._lease_s
        self.loan = loan

    async def keep(self) -> None:
        """Make sure that it is still ours, before something is written; `LeaseLost` if not.

        What was renewed a moment ago is ours for much longer than a write takes.
        """
        now_s = self._clock.now_s()
        if now_s - self._renewed_s >= hear_every_s(self._lease_s):
            await self._renew(now_s)

    async def work(self, handler: Handler, messages: tuple[Message, ...]) -> Worked:
        """Let a handler work on some messages of the loan, which is renewed meanwhile."""
        try:
            async with asyncio.TaskGroup() as group:
                beating = group.create_task(self._beat(), name=f"renew {self.loan.task}")
                worked = await handler(self._seeding, _Part(self, messages))
                beating.cancel()
            return worked
        except ExceptionGroup as failures:
            raise _reason(failures) from failures

    async def _beat(self) -> None:
        """Renew the loan until it is lost."""
        while True:
            await asyncio.sleep(self._lease_s / BEATS_PER_SILENCE)
            now_s = self._clock.now_s()
            try:
                await self._renew(now_s)
            except StoreError:
                # The store is away for a while. Nobody has the loan before its time is over.
                if now_s >= self.loan.until_s:
                    raise LeaseLost(f"the loan of `{self.loan.task}` has passed") from None

    async def _renew(self, now_s: float) -> None:
        renewed = await self._seeding.queues.renew(
            self._seeding.dataset.name, self.loan, lease_s=self._lease_s, now_s=now_s
        )
        if renewed is None:
            raise LeaseLost(f"the loan of `{self.loan.task}` was lost: somebody else has it")
        self._renewed_s = now_s
        self.loan = replace(self.loan, until_s=renewed.until_s)


class _Part:
    """`Held` of some messages of a loan."""

    def __init__(self, hand: Hand, messages: tuple[Message, ...]) -> None:
        self._hand = hand
        self._messages = messages

    @property
    def loan(self) -> Loan:
        return replace(self._hand.loan, messages=self._messages)

    async def keep(self) -> None:
        await self._hand.keep()


def _reason(failures: ExceptionGroup[Exception]) -> Exception:
    """Return why work ended: first of all that the loan was lost, else the first error in it."""
    lost, others = failures.split(LeaseLost)
    first = (lost or others or failures).exceptions[0]
    return _reason(first) if isinstance(first, ExceptionGroup) else first
