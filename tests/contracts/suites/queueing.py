"""Queues of the seed engine: what is sent waits once, for one tenant and dataset alone."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from geomi.adapters.store.rows import MAX_NAME_BYTES
from geomi.errors import StoreError
from geomi.model.dataset.queue import (
    MAX_MESSAGE_BYTES,
    DeadLetter,
    ErrorContext,
    ErrorInfo,
    Loan,
    LoanSettlement,
    Message,
    QueueDepth,
    TaskTally,
)
from geomi.model.dataset.seed import ErrorType, Partition, PartitionFilter
from geomi.ports.dataset import SeedQueues
from tests.contracts.suites.handles import Stores
from tests.contracts.suites.material import LEASE_S, START_S
from tests.support.waiting import waits

__all__ = ["TestSending"]

DATASET = "file:///data"
NEWS = Partition("sg", "news", "2026-01-28")
ALL = PartitionFilter()


def sent(name: str, task: str = "", *, partition: Partition = NEWS, due_s: float = 0.0) -> Message:
    """Return a message to the domain queue; without a task it is about its own name."""
    return Message("domain", name, task or name, partition, f"body of {name}".encode(), due_s=due_s)


async def borrow(queues: SeedQueues, *, now_s: float = START_S, tasks: int = 10) -> Sequence[Loan]:
    """Claim as a worker does."""
    return await queues.claim(
        DATASET, "domain", owner="worker", tasks=tasks, lease_s=LEASE_S, now_s=now_s
    )


async def borrow_one(queues: SeedQueues, *, now_s: float = START_S) -> Loan:
    """Claim where exactly one task is due."""
    (loan,) = await borrow(queues, now_s=now_s)
    return loan


def names(loan: Loan) -> str:
    """Return the names of a loan's messages, in their order."""
    return " ".join(message.name for message in loan.messages)


def buried(message: Message, letter: str = "1") -> DeadLetter:
    """Return the dead letter of a message."""
    return DeadLetter(
        letter,
        message,
        ErrorInfo(ErrorType.TIMEOUT, "no answer 답", 3, "2026-01-28T10:00:00Z"),
        ErrorContext("newsfork-domain", "0.1", 17),
    )


async def bury(queues: SeedQueues, name: str, letter: str, task: str = "") -> Message:
    """Send a message and give it up; return it."""
    await queues.send(DATASET, [sent(name, task)])
    loan = await borrow_one(queues)
    (message,) = loan.messages
    assert await queues.settle(DATASET, loan, LoanSettlement(dead=(buried(message, letter),)))
    return message


class TestSending:
    """What waits."""

    @waits
    async def test_what_is_sent_is_lent_as_it_was(self, stores: Stores) -> None:
        queues = stores("a").queues
        message = sent("한글", "task", due_s=12.5)
        assert await queues.send(DATASET, [message]) == 1
        loan = await borrow_one(queues)
        assert loan == Loan("domain", "task", 1, START_S + LEASE_S, (message,))

    @pytest.mark.req("SED-44")
    @waits
    async def test_what_is_sent_twice_waits_once_as_it_was(self, stores: Stores) -> None:
        queues = stores("a").queues
        other = Message("domain", "1", "1", NEWS, b"other", due_s=9 * START_S)
        assert await queues.send(DATASET, [sent("1"), other, sent("2")]) == 2
        assert await queues.send(DATASET, [other]) == 0
        loans = await borrow(queues)
        assert [message.body for loan in loans for message in loan.messages] == [
            b"body of 1",
            b"body of 2",
        ]
        assert await queues.send(DATASET, [other]) == 0
        assert (await queues.depth(DATASET, "domain", now_s=START_S)).lent == 2

    @waits
    async def test_what_is_done_may_be_sent_again(self, stores: Stores) -> None:
        queues = stores("a").queues
        for _ in range(2):
            assert await queues.send(DATASET, [sent("1")]) == 1
            loan = await borrow_one(queues)
            assert await queues.settle(DATASET, loan, LoanSettlement(done=("1",)))
            assert await borrow(queues, now_s=START_S + 2 * LEASE_S) == []

    @waits
    async def test_what_is_dead_waits_again_from_the_beginning(self, stores: Stores) -> None:
        queues = stores("a").queues
        await bury(queues, "1", "L1")
        again = Message("domain", "1", "1", NEWS, b"new")
        assert await queues.send(DATASET, [again]) == 1
        assert await queues.dead(DATASET, limit=10) == []
        assert (await borrow_one(queues)).messages == (again,)

    @waits
    async def test_nothing_is_sent(self, stores: Stores) -> None:
        queues = stores("a").queues
        assert await queues.send(DATASET, []) == 0
        assert await borrow(queues) == []
        assert await queues.depth(DATASET, "domain", now_s=START_S) == QueueDepth()
        assert await queues.tally(DATASET, "domain", ALL) == TaskTally()

    @pytest.mark.parametrize("part", ["dataset", "queue", "task", "name"])
    @waits
    async def test_a_name_has_a_limit(self, stores: Stores, part: str) -> None:
        queues = stores("a").queues
        longest = "é" * (MAX_NAME_BYTES // 2)
        given = dict.fromkeys(("dataset", "queue", "task", "name"), longest)

        def message(parts: dict[str, str]) -> Message:
            return Message(parts["queue"], parts["name"], parts["task"], NEWS, b"")

        assert await queues.send(given["dataset"], [message(given)]) == 1
        given[part] += "x"
        with pytest.raises(StoreError, match="bytes"):
            await queues.send(given["dataset"], [message(given)])

    @waits
    async def test_a_body_has_a_limit(
        self, stores: Stores, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("geomi.adapters.store.tables.queues.MAX_MESSAGE_BYTES", 1000)
        queues = stores("a").queues
        assert MAX_MESSAGE_BYTES > 1000
        await queues.send(DATASET, [Message("domain", "1", "1", NEWS, b"x" * 1000)])
        with pytest.raises(StoreError, match="1,001 bytes"):
            await queues.send(DATASET, [Message("domain", "2", "2", NEWS, b"x" * 1001)])
        assert len(await borrow(queues)) == 1

    @waits
    async def test_tenants_datasets_and_queues_do_not_see_each_other(self, stores: Stores) -> None:
        own = stores("a").queues
        message = await bury(own, "1", "L1")
        await own.send(DATASET, [sent("2")])
        loan = await borrow_one(own)
        seen = (QueueDepth(0, 1, 1, START_S + LEASE_S), 2)
        for queues, dataset in ((stores("b").queues, DATASET), (own, "s3://other")):
            assert await queues.depth(dataset, "domain", now_s=START_S) == QueueDepth()
            assert (await queues.tally(dataset, "domain", ALL)).total == 0
            assert await queues.dead(dataset, limit=10) == []
            assert await queues.letter(dataset, "L1") is None
            assert not await queues.revive(dataset, "L1", now_s=START_S)
            assert not await queues.drop(dataset, "L1")
            assert await queues.renew(dataset, loan, lease_s=1.0, now_s=START_S) is None
            assert not await queues.settle(dataset, loan, LoanSettlement(done=("2",)))
            assert await queues.send(dataset, [message]) == 1
        assert (await own.depth(DATASET, "seed", now_s=START_S)) == QueueDepth()
        depth = await own.depth(DATASET, "domain", now_s=START_S)
        assert (depth, (await own.tally(DATASET, "domain", ALL)).total) == seen

    @waits
    async def test_a_tenant_is_erased_alone(self, stores: Stores) -> None:
        own, other = stores("a").queues, stores("b").queues
        await bury(own, "1", "L1")
        await own.send(DATASET, [sent("2")])
        await own.send("s3://other", [sent("3")])
        loan = await borrow_one(own)
        await other.send(DATASET, [sent("4")])
        await own.erase()
        assert not await own.settle(DATASET, loan, LoanSettlement(done=("2",)))
        for dataset in (DATASET, "s3://other"):
            assert await own.depth(dataset, "domain", now_s=START_S) == QueueDepth()
            assert (await own.tally(dataset, "domain", ALL)).total == 0
            assert await own.dead(dataset, limit=10) == []
        assert names(await borrow_one(other)) == "4"
