"""Loans of a queue: a task is lent to one worker at a time, with what waits for it."""

from __future__ import annotations

import pytest

from geomi.model.dataset import queue as model
from geomi.model.dataset.queue import (
    MAX_LENT_MESSAGES,
    MAX_MESSAGE_BYTES,
    LoanSettlement,
    Message,
    QueueDepth,
    TaskResult,
)
from tests.contracts.suites.handles import Stores
from tests.contracts.suites.material import LEASE_S, START_S
from tests.contracts.suites.queueing import (
    ALL,
    DATASET,
    NEWS,
    borrow,
    borrow_one,
    buried,
    names,
    sent,
)
from tests.support.waiting import waits

__all__ = ["TestFencedLoans", "TestLoans"]


class TestLoans:
    """Who has what in hand."""

    @waits
    async def test_a_task_comes_with_every_message_that_is_due(self, stores: Stores) -> None:
        queues = stores("a").queues
        late = sent("d", "task", due_s=START_S + 1)
        await queues.send(DATASET, [sent("c", "task"), late, sent("B", "task"), sent("a", "task")])
        assert names(await borrow_one(queues)) == "B a c"

    @waits
    async def test_the_longest_due_is_lent_first_then_by_name(self, stores: Stores) -> None:
        queues = stores("a").queues
        dues = {"new": START_S, "b": 5.0, "a": 5.0, "old": 1.0, "soon": START_S + 0.1}
        await queues.send(DATASET, [sent(name, due_s=due_s) for name, due_s in dues.items()])
        assert [loan.task for loan in await borrow(queues, tasks=3)] == ["old", "a", "b"]
        assert [loan.task for loan in await borrow(queues, tasks=3)] == ["new"]
        assert await borrow(queues, tasks=0) == []
        depth = await queues.depth(DATASET, "domain", now_s=START_S)
        assert depth == QueueDepth(1, 4, 0, START_S + 0.1)

    @waits
    async def test_a_task_is_lent_to_nobody_else_until_its_time_is_over(
        self, stores: Stores
    ) -> None:
        queues = stores("a").queues
        await queues.send(DATASET, [sent("1", "task")])
        first = await borrow_one(queues)
        await queues.send(DATASET, [sent("2", "task")])
        before_s = START_S + LEASE_S - 0.001
        assert await borrow(queues, now_s=before_s) == []
        assert await queues.depth(DATASET, "domain", now_s=before_s) == QueueDepth(
            0, 2, 0, first.until_s
        )
        depth = await queues.depth(DATASET, "domain", now_s=first.until_s)
        assert depth == QueueDepth(2, 0, 0, first.until_s)
        second = await borrow_one(queues, now_s=first.until_s)
        assert second.token > first.token
        assert [(one.name, one.losses, one.attempts) for one in second.messages] == [
            ("1", 1, 0),
            ("2", 0, 0),
        ]

    @waits
    async def test_who_renews_keeps_it(self, stores: Stores) -> None:
        queues = stores("a").queues
        await queues.send(DATASET, [sent("1")])
        loan = await borrow_one(queues)
        later_s = START_S + LEASE_S / 2
        longer = await queues.renew(DATASET, loan, lease_s=LEASE_S, now_s=later_s)
        assert longer is not None and longer.until_s == later_s + LEASE_S
        assert longer.messages == loan.messages
        assert await borrow(queues, now_s=START_S + LEASE_S) == []
        assert await queues.settle(DATASET, loan, LoanSettlement(done=("1",)))
        assert await queues.renew(DATASET, longer, lease_s=LEASE_S, now_s=later_s) is None

    @waits
    async def test_the_loans_of_the_dead_end_at_once_and_count_as_lost(
        self, stores: Stores
    ) -> None:
        store = stores("a")
        await store.queues.send(DATASET, [sent("1")])
        loan = await borrow_one(store.queues)
        other = stores("b").census
        assert await other.release_dead(["somebody"], now_s=START_S) == 0
        assert await borrow(store.queues) == []
        assert await other.release_dead(["worker", "nobody"], now_s=START_S) == 0
        again = await borrow_one(store.queues)
        assert [message.losses for message in again.messages] == [1]
        assert not await store.queues.settle(DATASET, loan, LoanSettlement(done=("1",)))

    @waits
    async def test_a_loan_has_so_many_messages(self, stores: Stores) -> None:
        queues = stores("a").queues
        many = [sent(f"{number:03}", "task") for number in range(MAX_LENT_MESSAGES + 1)]
        await queues.send(DATASET, many)
        loan = await borrow_one(queues)
        assert len(loan.messages) == MAX_LENT_MESSAGES
        done = tuple(message.name for message in loan.messages)
        assert await queues.settle(DATASET, loan, LoanSettlement(done=done, worked=TaskResult()))
        assert (await queues.tally(DATASET, "domain", ALL)).pending == 1
        assert names(await borrow_one(queues)) == f"{MAX_LENT_MESSAGES:03}"

    @waits
    async def test_a_loan_has_so_many_bytes_and_one_message_at_least(
        self, stores: Stores, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("geomi.adapters.store.tables.queues.MAX_LENT_BYTES", 1000)
        assert model.MAX_LENT_BYTES <= MAX_MESSAGE_BYTES
        queues = stores("a").queues
        sizes = {"1": 1001, "2": 600, "3": 400, "4": 1}
        await queues.send(
            DATASET, [Message("domain", name, "task", NEWS, b"x" * n) for name, n in sizes.items()]
        )
        for lent in ("1", "2 3", "4"):
            loan = await borrow_one(queues)
            assert names(loan) == lent
            done = tuple(message.name for message in loan.messages)
            assert await queues.settle(DATASET, loan, LoanSettlement(done=done))


class TestFencedLoans:
    """What comes back too late."""

    @waits
    async def test_an_old_token_writes_nothing(self, stores: Stores) -> None:
        queues = stores("a").queues
        await queues.send(DATASET, [sent("1"), sent("2", "1")])
        old = await borrow_one(queues)
        new = await borrow_one(queues, now_s=old.until_s)
        assert await queues.renew(DATASET, old, lease_s=LEASE_S, now_s=old.until_s) is None
        dead = (buried(old.messages[1]),)
        late = LoanSettlement(done=("1",), dead=dead, worked=TaskResult(7, robots=True))
        assert not await queues.settle(DATASET, old, late)
        tally = await queues.tally(DATASET, "domain", ALL)
        assert (tally.pending, tally.robots) == (1, 0)
        assert await queues.depth(DATASET, "domain", now_s=old.until_s) == QueueDepth(
            0, 2, 0, new.until_s
        )

    @waits
    async def test_a_loan_that_nobody_else_has_is_still_ours(self, stores: Stores) -> None:
        queues = stores("a").queues
        await queues.send(DATASET, [sent("1")])
        loan = await borrow_one(queues)
        late_s = loan.until_s + 5
        assert await queues.renew(DATASET, loan, lease_s=LEASE_S, now_s=late_s) is not None
        assert await borrow(queues, now_s=late_s) == []
        assert await queues.settle(DATASET, loan, LoanSettlement(done=("1",)))

    @waits
    async def test_what_is_settled_twice_is_settled_once(self, stores: Stores) -> None:
        queues = stores("a").queues
        await queues.send(DATASET, [sent("1", "task"), sent("2", "task")])
        loan = await borrow_one(queues)
        end = LoanSettlement(done=("1",), later=(("2", START_S + 1),), worked=TaskResult(1))
        for _ in range(2):
            assert await queues.settle(DATASET, loan, end)
        again = await borrow_one(queues, now_s=START_S + 1)
        assert [(one.name, one.attempts) for one in again.messages] == [("2", 1)]
