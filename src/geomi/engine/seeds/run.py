"""Both consumers of a dataset in one process: raw files are processed, domains are collected."""

from __future__ import annotations

import asyncio

from geomi.engine.seeds.consume import Consumer, Shape
from geomi.engine.seeds.domain import collect_domain
from geomi.engine.seeds.held import Handler
from geomi.engine.seeds.process import process_file
from geomi.engine.seeds.seeding import Seeding


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
