"""What becomes of tasks: done, tried again, given up; how they are counted, and dead letters."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace

import pytest

from geomi.model.dataset.queue import MAX_LISTED, LoanSettlement, QueueDepth, TaskResult, TaskTally
from geomi.model.dataset.seed import Partition, PartitionFilter
from geomi.ports.dataset import SeedQueues
from tests.contracts.suites.crowding import at_once
from tests.contracts.suites.handles import Stores
from tests.contracts.suites.material import LEASE_S, START_S
from tests.contracts.suites.queueing import (
    ALL,
    DATASET,
    NEWS,
    borrow,
    borrow_one,
    buried,
    bury,
    names,
    sent,
)
from tests.support.waiting import waits

__all__ = ["TestDeadLetters", "TestQueuesAtOnce", "TestSettledTasks", "TestTaskTallies"]


class TestSettledTasks:
    """How loans end."""

    @pytest.mark.req("C-85")
    @waits
    async def test_each_message_ends_for_itself(self, stores: Stores) -> None:
        queues = stores("a").queues
        await queues.send(DATASET, [sent(name, "task") for name in "abcde"])
        loan = await borrow_one(queues)
        dead = buried(replace(loan.messages[3], attempts=4))
        end = LoanSettlement(done=("a",), later=(("b", START_S + 2),), back=("c",), dead=(dead,))
        assert await queues.settle(DATASET, loan, end)
        depth = await queues.depth(DATASET, "domain", now_s=START_S)
        assert depth == QueueDepth(0, 3, 1, START_S + LEASE_S)
        assert await borrow(queues, now_s=START_S + 2) == []  # e is in hand
        assert await queues.settle(DATASET, loan, LoanSettlement(done=("e",)))
        assert names(await borrow_one(queues)) == "c"

    @waits
    async def test_what_is_tried_later_is_not_lent_before(self, stores: Stores) -> None:
        queues = stores("a").queues
        await queues.send(DATASET, [sent("1")])
        for attempt, wait_s in enumerate((1.0, 2.0, 4.0)):
            loan = await borrow_one(queues, now_s=START_S + attempt * 10)
            due_s = START_S + attempt * 10 + wait_s
            assert loan.messages[0].attempts == attempt
            assert await queues.settle(DATASET, loan, LoanSettlement(later=(("1", due_s),)))
            assert await borrow(queues, now_s=due_s - 0.001) == []
            assert (await queues.depth(DATASET, "domain", now_s=START_S)).next_s == due_s
        assert (await borrow_one(queues, now_s=START_S + 90)).messages[0].attempts == 3

    @waits
    async def test_what_came_meanwhile_is_lent_when_the_task_is_back(self, stores: Stores) -> None:
        queues = stores("a").queues
        await queues.send(DATASET, [sent("1", "task")])
        loan = await borrow_one(queues)
        await queues.send(DATASET, [sent("2", "task")])
        assert await queues.settle(
            DATASET, loan, LoanSettlement(done=("1", "2"), worked=TaskResult(1))
        )
        assert (await queues.tally(DATASET, "domain", ALL)).pending == 1
        assert names(await borrow_one(queues)) == "2"

    @waits
    async def test_who_gives_back_costs_nobody_a_try(self, stores: Stores) -> None:
        queues = stores("a").queues
        await queues.send(DATASET, [sent("1")])
        loan = await borrow_one(queues)
        assert await queues.settle(DATASET, loan, LoanSettlement(back=("1",)))
        again = await borrow_one(queues)
        assert again.messages == loan.messages
        assert again.token > loan.token


class TestTaskTallies:
    """How many are processed, failed or pending, and what they have come to."""

    @pytest.mark.req("MON-14", "RPT-05")
    @waits
    async def test_tasks_are_counted_by_state_and_partition(self, stores: Stores) -> None:
        queues = stores("a").queues
        places = [NEWS, Partition("sg", "gov", "2026-01-28"), Partition("us", "news", "2026-01-29")]
        for place in places:
            tasks = [f"{place.country}{place.category}{number}" for number in range(4)]
            await queues.send(DATASET, [sent(name, partition=place) for name in tasks])
            one, two, three, _ = await borrow(queues)
            robots = TaskResult(5, robots=True, sitemap=False, duration_ms=100)
            assert await queues.settle(
                DATASET, one, LoanSettlement(done=(one.task,), worked=robots)
            )
            both = TaskResult(5, robots=True, sitemap=True, duration_ms=301)
            assert await queues.settle(DATASET, two, LoanSettlement(done=(two.task,), worked=both))
            dead = buried(three.messages[0], three.task)
            assert await queues.settle(DATASET, three, LoanSettlement(dead=(dead,)))
        each = TaskTally(2, 1, 1, 2, 1, 200.5)
        for which, times in (
            (ALL, 3),
            (PartitionFilter(country="sg"), 2),
            (PartitionFilter(category="news"), 2),
            (PartitionFilter(date="2026-01-29"), 1),
            (PartitionFilter("sg", "news", "2026-01-28"), 1),
            (PartitionFilter("us", "gov"), 0),
        ):
            expected = TaskTally(2 * times, times, times, 2 * times, times, 200.5 if times else 0.0)
            found = await queues.tally(DATASET, "domain", which)
            assert found == expected
            assert found.total == times * each.total
        assert (await queues.tally(DATASET, "seed", ALL)).total == 0

    @waits
    async def test_a_task_is_counted_as_it_stands_now(self, stores: Stores) -> None:
        queues = stores("a").queues

        async def states() -> tuple[int, int, int]:
            tally = await queues.tally(DATASET, "domain", ALL)
            return tally.processed, tally.failed, tally.pending

        await bury(queues, "1", "L1", "task")
        assert await states() == (0, 1, 0)
        await queues.send(DATASET, [sent("2", "task")])
        assert await states() == (0, 0, 1)
        loan = await borrow_one(queues)
        assert await queues.settle(DATASET, loan, LoanSettlement(done=("2",), worked=TaskResult(1)))
        assert await states() == (0, 1, 0)  # one of its messages is still dead
        assert await queues.revive(DATASET, "L1", now_s=START_S)
        assert await states() == (0, 0, 1)
        loan = await borrow_one(queues)
        assert await queues.settle(DATASET, loan, LoanSettlement(done=("1",), worked=TaskResult(1)))
        assert await states() == (1, 0, 0)

    @waits
    async def test_only_what_nobody_knows_of_is_sent(self, stores: Stores) -> None:
        queues = stores("a").queues
        await bury(queues, "known", "L1")
        messages = [sent("new"), sent("known")]
        assert await queues.send_unknown(DATASET, messages) == 1
        assert await queues.send_unknown(DATASET, messages) == 0
        assert await queues.tally(DATASET, "domain", ALL) == TaskTally(0, 1, 1)
        loan = await borrow_one(queues)
        assert [one.name for one in loan.messages] == ["new"]
        assert await queues.settle(
            DATASET, loan, LoanSettlement(done=("new",), worked=TaskResult(1))
        )
        assert await queues.send_unknown(DATASET, messages) == 0
        assert await queues.send_unknown(DATASET, []) == 0
        assert await stores("b").queues.send_unknown(DATASET, messages) == 2  # another tenant's


class TestDeadLetters:
    """What nobody tries any more."""

    @pytest.mark.req("SED-43")
    @waits
    async def test_a_letter_keeps_its_message_and_why(self, stores: Stores) -> None:
        queues = stores("a").queues
        message = await bury(queues, "1", "L1", "task")
        letter = await queues.letter(DATASET, "L1")
        assert letter == buried(message, "L1")
        assert letter.message.body == b"body of 1"
        assert (await queues.depth(DATASET, "domain", now_s=START_S)) == QueueDepth(dead=1)

    @waits
    async def test_letters_are_listed_by_id_without_their_bodies(self, stores: Stores) -> None:
        queues = stores("a").queues
        for letter in ("L3", "L1", "L2"):
            await bury(queues, f"of {letter}", letter)
        found = await queues.dead(DATASET, limit=2)
        assert [(letter.id, letter.message.name) for letter in found] == [
            ("L1", "of L1"),
            ("L2", "of L2"),
        ]
        assert {letter.message.body for letter in found} == {b""}
        assert [letter.id for letter in await queues.dead(DATASET, after="L2", limit=9)] == ["L3"]
        assert await queues.dead(DATASET, limit=0) == []

    @waits
    async def test_an_answer_has_a_limit(self, stores: Stores) -> None:
        queues = stores("a").queues
        many = [f"{number:05}" for number in range(MAX_LISTED + 1)]
        await queues.send(DATASET, [sent(name, name[:3]) for name in many])
        for loan in await borrow(queues, tasks=99):
            dead = tuple(buried(message, message.name) for message in loan.messages)
            assert await queues.settle(DATASET, loan, LoanSettlement(dead=dead))
        assert len(await queues.dead(DATASET, limit=MAX_LISTED + 1)) == MAX_LISTED
        assert (await queues.depth(DATASET, "domain", now_s=START_S)).dead == MAX_LISTED + 1

    @waits
    async def test_a_letter_that_is_revived_begins_anew(self, stores: Stores) -> None:
        queues = stores("a").queues
        await queues.send(DATASET, [sent("1")])
        loan = await borrow_one(queues)
        loan = await borrow_one(queues, now_s=loan.until_s)  # a worker was lost
        tired = replace(loan.messages[0], attempts=4)
        assert await queues.settle(DATASET, loan, LoanSettlement(dead=(buried(tired, "L1"),)))
        found = await queues.letter(DATASET, "L1")
        assert found is not None and (found.message.attempts, found.message.losses) == (4, 1)
        now_s = START_S + 3 * LEASE_S
        assert await queues.revive(DATASET, "L1", now_s=now_s)
        assert not await queues.revive(DATASET, "L1", now_s=now_s)
        assert (await borrow_one(queues, now_s=now_s)).messages == (sent("1", due_s=now_s),)
        assert await queues.dead(DATASET, limit=1) == []

    @waits
    async def test_a_letter_is_revived_while_its_task_is_in_hand(self, stores: Stores) -> None:
        queues = stores("a").queues
        await bury(queues, "1", "L1", "task")
        await queues.send(DATASET, [sent("2", "task")])
        loan = await borrow_one(queues)
        assert await queues.revive(DATASET, "L1", now_s=START_S)
        assert await borrow(queues) == []
        assert await queues.settle(DATASET, loan, LoanSettlement(done=("2",)))
        assert names(await borrow_one(queues)) == "1"

    @waits
    async def test_a_letter_that_is_dropped_is_gone_and_its_task_stays_failed(
        self, stores: Stores
    ) -> None:
        queues = stores("a").queues
        await bury(queues, "1", "L1")
        assert await queues.drop(DATASET, "L1")
        assert not await queues.drop(DATASET, "L1")
        assert await queues.letter(DATASET, "L1") is None
        assert not await queues.revive(DATASET, "L1", now_s=START_S)
        assert (await queues.tally(DATASET, "domain", ALL)).failed == 1
        assert await queues.depth(DATASET, "domain", now_s=START_S) == QueueDepth()

    @waits
    async def test_with_its_last_letter_a_task_is_forgotten_until_it_is_sent_again(
        self, stores: Stores
    ) -> None:
        queues = stores("a").queues

        async def dropped(letter: str, queue: str = "domain") -> TaskTally:
            assert await queues.drop(DATASET, letter, forgets=queue)
            return await queues.tally(DATASET, "domain", ALL)

        for name in "12":
            await bury(queues, name, f"L{name}", "task")
        await bury(queues, "3", "L3", "another's")
        await bury(queues, "4", "L4", "sent again")
        await queues.send(DATASET, [sent("5", "sent again")])
        assert await dropped("L3", "seed") == TaskTally(failed=2, pending=1)
        assert await dropped("L4") == TaskTally(failed=2, pending=1)  # something waits for it
        assert await dropped("L1") == TaskTally(failed=2, pending=1)  # one more is dead
        assert await dropped("L2") == TaskTally(failed=1, pending=1)
        await queues.send(DATASET, [sent("1", "task")])
        assert await queues.tally(DATASET, "domain", ALL) == TaskTally(failed=1, pending=2)


class TestQueuesAtOnce:
    """Several workers and senders at the same time."""

    @pytest.mark.req("SED-36", "SED-44")
    def test_no_task_is_shared_and_no_message_lost(self, durable_stores: Stores) -> None:
        messages = [sent(f"{task}#{one}", str(task)) for task in range(40) for one in range(3)]
        in_hand = set[str]()

        async def work(queues: SeedQueues) -> tuple[int, list[str]]:
            new, done = await queues.send(DATASET, messages), list[str]()
            while loans := await borrow(queues, tasks=3):
                tasks = {loan.task for loan in loans}
                assert not tasks & in_hand
                in_hand.update(tasks)
                for loan in loans:
                    mine = tuple(message.name for message in loan.messages)
                    done += mine
                    in_hand.remove(loan.task)
                    assert await queues.settle(DATASET, loan, LoanSettlement(done=mine))
            return new, done

        parts = at_once(durable_stores, lambda store, _: asyncio.run(work(store.queues)))
        done = Counter(name for _, part in parts for name in part)
        assert set(done) == {message.name for message in messages}
        # What is done may be sent again by whoever comes late; it is done as often as it was sent.
        assert done.total() == sum(new for new, _ in parts)
        tally = asyncio.run(durable_stores("local").queues.tally(DATASET, "domain", ALL))
        assert (tally.processed, tally.total) == (40, 40)

    def test_one_of_many_revives_a_letter(self, durable_stores: Stores) -> None:
        queues = durable_stores("local").queues
        asyncio.run(bury(queues, "1", "L1"))
        told = at_once(
            durable_stores,
            lambda store, _: asyncio.run(store.queues.revive(DATASET, "L1", now_s=START_S)),
        )
        assert sorted(told) == [False, False, False, True]
