"""Consume the two queues of a dataset in one process: raw files and domains.

Rules kept:
- A consumer borrows as many tasks as it has slots. A message is acknowledged by itself (C-85): one
  task's end costs no other task anything. Messages that fail together because of one of them are
  tried alone.
- A handler that raises costs its messages a try. After the last try they are dead letters, in the
  transaction that ends their delivery (SED-42, SED-43).
- A loan is renewed while its task is worked on. A loan that was lost stops the handler and settles
  nothing; whoever has the loan now answers for it, and the task is looked at once more.
- A consumer that leaves takes no more, ends what it holds, and gives back what it cannot end in
  time.
"""

from __future__ import annotations

import asyncio

from geomi.engine.seeds.consume import Consumer, Shape
from geomi.engine.seeds.context import Seeding
from geomi.engine.seeds.domains import collect_domain
from geomi.engine.seeds.held import Handler
from geomi.engine.seeds.raw_files import process_file


async def work(seeding: Seeding, *, leaving: asyncio.Event, is_done_when_empty: bool) -> None:
    """Work on the queues of a dataset until somebody leaves.

    Args:
        is_done_when_empty: end, too, when nothing waits and nobody works on anything.
    """
    await consume_both(
        seeding,
        process_file,
        collect_domain,
        leaving=leaving,
        is_done_when_empty=is_done_when_empty,
    )


async def consume_both(
    seeding: Seeding,
    on_file: Handler,
    on_domain: Handler,
    *,
    leaving: asyncio.Event,
    is_done_when_empty: bool,
) -> None:
    """Let handlers work on both queues, beside each other."""
    rules = seeding.config.seeds
    both = _Both(seeding, is_done_when_empty=is_done_when_empty)
    shapes = (
        Shape(
            rules.seed_queue,
            on_file,
            rules.seed_batch,
            rules.seed_batch_wait_s,
            both.is_served,
        ),
        Shape(
            rules.domain_queue,
            on_domain,
            rules.domain_batch,
            rules.domain_batch_wait_s,
            both.has_files,
        ),
    )
    for shape in shapes:
        consumer = Consumer(seeding, shape, is_over=both.is_over, on_ended=both.nudge)
        both.consumers.append(consumer)
    try:
        async with asyncio.TaskGroup() as group:
            for consumer in both.consumers:
                group.create_task(consumer.run(leaving), name="seeds")
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from failures


class _Both:
    """What the two consumers have to know of each other."""

    def __init__(self, seeding: Seeding, *, is_done_when_empty: bool) -> None:
        self._seeding = seeding
        self._is_done_when_empty = is_done_when_empty
        self._is_over = False
        self.consumers: list[Consumer] = []

    def nudge(self) -> None:
        """Let both look again: a file that is done has sent domains."""
        for consumer in self.consumers:
            consumer.nudge()

    async def is_served(self) -> bool:
        """Whether somebody may send raw files at any time."""
        return not self._is_done_when_empty

    async def has_files(self) -> bool:
        """Whether raw files wait, or are in somebody's hand: they bring domains."""
        return not await self._is_empty(self._seeding.config.seeds.seed_queue)

    async def is_over(self) -> bool:
        """Whether nothing is left; what one of them has seen holds for the other as well."""
        if self._is_done_when_empty and not self._is_over:
            # Files first: their domains are sent before they are done.
            rules = self._seeding.config.seeds
            queues = (rules.seed_queue, rules.domain_queue)
            self._is_over = all([await self._is_empty(queue) for queue in queues])
            if self._is_over:
                self.nudge()
        return self._is_over

    async def _is_empty(self, queue: str) -> bool:
        depth = await self._seeding.queues.depth(
            self._seeding.dataset.name, queue, now_s=self._seeding.world.clock.now_s()
        )
        return depth.waiting == depth.lent == 0
