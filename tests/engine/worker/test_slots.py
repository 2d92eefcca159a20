"""Places for requests in flight are given in the order of asking, also when there are fewer."""

from __future__ import annotations

import asyncio

from geomi.engine.worker.loop import RequestSlots
from tests.support.waiting import waits


class Crowd:
    """Tasks that hold a place until they are let go."""

    def __init__(self, slots: RequestSlots) -> None:
        self.slots = slots
        self.inside: list[int] = []
        self.leave: dict[int, asyncio.Event] = {}

    async def hold(self, number: int) -> None:
        self.leave[number] = asyncio.Event()
        async with self.slots:
            self.inside.append(number)
            await self.leave[number].wait()
            self.inside.remove(number)


@waits
async def test_places_are_given_in_order_and_follow_the_size() -> None:
    crowd = Crowd(RequestSlots(2))
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(crowd.hold(number)) for number in range(6)]
        await asyncio.sleep(0.01)
        assert crowd.inside == [0, 1]
        crowd.slots.resize(3)
        await asyncio.sleep(0.01)
        assert crowd.inside == [0, 1, 2]
        crowd.slots.resize(1)
        crowd.leave[0].set()
        crowd.leave[1].set()
        await asyncio.sleep(0.01)
        assert crowd.inside == [2], "the others have to wait until one place is free"
        tasks[3].cancel()
        crowd.leave[2].set()
        await asyncio.sleep(0.01)
        assert crowd.inside == [4], "who was cancelled is passed over"
        crowd.leave[4].set()
        crowd.leave[5].set()
    assert crowd.inside == []


@waits
async def test_a_place_that_was_given_to_one_who_leaves_is_not_lost() -> None:
    crowd = Crowd(RequestSlots(1))
    async with asyncio.TaskGroup() as group:
        group.create_task(crowd.hold(0))
        second = group.create_task(crowd.hold(1))
        third = group.create_task(crowd.hold(2))
        await asyncio.sleep(0.01)
        crowd.leave[0].set()
        await asyncio.sleep(0)  # the first leaves, and the second is given its place
        second.cancel()
        await asyncio.sleep(0.01)
        assert crowd.inside == [2]
        crowd.leave[2].set()
        await third
