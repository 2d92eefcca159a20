"""Consumers of the seed engine: what they borrow, how it ends, and what becomes of what fails."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from geomi.adapters.dataset.directory import DirectoryDataset
from geomi.engine.seeds import queue as seed_queue
from geomi.engine.seeds.context import HeldTask, SeedContext
from geomi.engine.seeds.dead_letters import MAX_LOSSES, failure_of
from geomi.engine.seeds.queue import QueueConsumer, QueueSettings, TaskHandler, consume_both
from geomi.errors import BytesMissing, LeaseLost, SeedError, StoreError, StoreFull
from geomi.model.config import CrawlConfig
from geomi.model.dataset.queue import (
    MAX_ERROR_CHARS,
    ErrorContext,
    Loan,
    LoanSettlement,
    Message,
    QueueDepth,
    TaskResult,
    TaskTally,
)
from geomi.model.dataset.seed import ErrorType, Partition, PartitionFilter, SeedRules
from geomi.model.event import SeedFailed
from geomi.ports.dataset import SeedQueues
from tests.support.timed_crawl import TICK_S, Hand, hand_in
from tests.support.waiting import waits

PLACE = Partition("sg", "news", "2026-01-28")
ALL = PartitionFilter()
QUEUE = "newsfork-domain-staging"
RULES = SeedRules(seed_queue="newsfork-seed-staging", domain_queue=QUEUE)


Asking = Callable[[], Awaitable[bool]]


async def over() -> bool:
    return True


async def not_over() -> bool:
    return False


async def fine(_: SeedContext, held: HeldTask) -> TaskResult:
    return TaskResult(urls=len(held.loan.messages), robots=True, duration_ms=5)


@dataclass
class Bench:
    """A queue in memory, a clock turned by hand, and a consumer."""

    hand: Hand
    seeding: SeedContext
    calls: list[tuple[float, str]] = field(default_factory=list)

    @property
    def queues(self) -> SeedQueues:
        return self.seeding.queues

    @property
    def name(self) -> str:
        return self.seeding.dataset.name

    async def send(self, *names: str, task: str = "", queue: str = QUEUE) -> None:
        """Let messages wait, each about itself unless a task is named."""
        messages = [Message(queue, name, task or name, PLACE, name.encode()) for name in names]
        await self.queues.send(self.name, messages)

    async def borrow(self, queue: str = QUEUE, lease_s: float = 60.0) -> Sequence[Loan]:
        return await self.queues.claim(
            self.name, queue, owner="other", tasks=9, lease_s=lease_s, now_s=self.hand.clock.now_s()
        )

    async def depth(self, queue: str = QUEUE) -> QueueDepth:
        return await self.queues.depth(self.name, queue, now_s=self.hand.clock.now_s())

    async def tally(self) -> TaskTally:
        return await self.queues.tally(self.name, QUEUE, ALL)

    def consumer(
        self, handler: TaskHandler, *, slots: int = 5, is_over: Asking = over, **shape: Any
    ) -> QueueConsumer:
        consumer = QueueConsumer(
            self.seeding, QueueSettings(QUEUE, handler, slots, **shape), is_over=is_over
        )
        consumer.longest_look_s = 0.01
        return consumer

    def noting(self, handler: TaskHandler) -> TaskHandler:
        """Note when a handler is called, and with what."""

        async def noted(seeding: SeedContext, held: HeldTask) -> TaskResult:
            names = " ".join(message.name for message in held.loan.messages)
            self.calls.append((self.hand.clock.now_s() - self.hand.began_s, names))
            return await handler(seeding, held)

        return noted

    async def work(self, handler: TaskHandler, **shape: Any) -> None:
        """Consume until nothing is left, while the hand turns to what comes next."""

        async def is_empty() -> bool:
            depth = await self.depth()
            return depth.waiting == depth.lent == 0

        consumer = QueueConsumer(
            self.seeding,
            QueueSettings(QUEUE, self.noting(handler), shape.pop("slots", 5), **shape),
            is_over=is_empty,
        )
        consumer.longest_look_s = 0.01
        async with asyncio.TaskGroup() as group:
            running = group.create_task(consumer.run(asyncio.Event()))
            while not running.done():
                await asyncio.sleep(TICK_S)
                depth, now_s = await self.depth(), self.hand.clock.now_s()
                if not depth.lent and depth.next_s is not None and depth.next_s > now_s:
                    self.hand.clock.advance(depth.next_s - now_s)

    @property
    def failures(self) -> list[SeedFailed]:
        return self.hand.ear.of(SeedFailed)


@asynccontextmanager
async def bench(
    root: Path, rules: SeedRules = RULES, silence_s: float = 60.0
) -> AsyncIterator[Bench]:
    (root / "dataset").mkdir()
    async with hand_in(root / "home") as hand:
        world = replace(hand.world, silence_s=silence_s)
        dataset = DirectoryDataset(root / "dataset")
        yield Bench(hand, SeedContext(world, CrawlConfig(seeds=rules), hand.store.queues, dataset))


# --- slots and batches ---------------------------------------------------------------------------


@pytest.mark.req("SED-36")
@waits
async def test_as_many_tasks_are_in_hand_as_there_are_slots(tmp_path: Path) -> None:
    async with bench(tmp_path) as there:
        await there.send(*(f"{number:02}" for number in range(12)))
        in_hand, most, lent = set[str](), list[int](), list[int]()

        async def handler(_: SeedContext, held: HeldTask) -> TaskResult:
            in_hand.add(held.loan.task)
            most.append(len(in_hand))
            lent.append((await there.depth()).lent)
            await asyncio.sleep(0)
            in_hand.remove(held.loan.task)
            return TaskResult(3, robots=True, sitemap=False, duration_ms=4)

        await there.work(handler)
        assert max(most) == max(lent) == 5
        assert await there.tally() == TaskTally(12, 0, 0, 12, 0, 4.0)
        assert await there.depth() == QueueDepth()


@waits
async def test_all_messages_of_a_task_come_together_and_are_done_together(tmp_path: Path) -> None:
    async with bench(tmp_path) as there:
        await there.send("a", "b", "c", task="one")
        await there.send("d")
        await there.work(fine, slots=1)
        assert [names for _, names in there.calls] == ["d", "a b c"]


@pytest.mark.req("C-86")
@pytest.mark.parametrize(
    ("waiting", "more", "turned_s", "lent"),
    [(2, True, 29.9, 0), (2, True, 30.1, 2), (3, True, 0.0, 3), (2, False, 0.0, 2)],
    ids=["fills", "time is over", "full", "nothing more comes"],
)
@waits
async def test_an_idle_worker_waits_for_a_batch(
    tmp_path: Path, waiting: int, more: bool, turned_s: float, lent: int
) -> None:
    async with bench(tmp_path) as there:
        await there.send(*map(str, range(waiting)))
        looks = 0

        async def more_may_come() -> bool:
            nonlocal looks
            looks += 1
            return more

        async def hold(_: SeedContext, held: HeldTask) -> TaskResult:
            await leaving.wait()
            return TaskResult()

        leaving = asyncio.Event()
        consumer = there.consumer(
            hold, slots=3, is_over=not_over, batch_wait_s=30.0, more_may_come=more_may_come
        )
        async with asyncio.TaskGroup() as group:
            group.create_task(consumer.run(leaving))
            await until(lambda: looks > 0 or waiting == 3)
            there.hand.clock.advance(turned_s)
            before = looks
            if lent:
                await reached(there, lambda depth: depth.lent == lent)
            else:
                await until(lambda: looks > before + 3)
                assert (await there.depth()).lent == 0
            leaving.set()


async def until(is_so: Callable[[], bool]) -> None:
    while not is_so():  # noqa: ASYNC110  # nobody tells us
        await asyncio.sleep(TICK_S)


async def reached(there: Bench, is_so: Callable[[QueueDepth], bool], queue: str = QUEUE) -> None:
    while not is_so(await there.depth(queue)):  # noqa: ASYNC110  # nobody tells us
        await asyncio.sleep(TICK_S)


# --- failures ------------------------------------------------------------------------------------


@pytest.mark.req("SED-35", "SED-42", "SED-43", "C-85")
@waits
async def test_what_fails_is_tried_after_one_two_and_four_seconds_and_is_dead_then(
    tmp_path: Path,
) -> None:
    async def handler(seeding: SeedContext, held: HeldTask) -> TaskResult:
        if held.loan.task == "good":
            return TaskResult()
        there.hand.clock.advance(0.25)
        raise SeedError("no answer", kind=ErrorType.NETWORK)

    there: Bench

    async with bench(tmp_path) as given:
        there = given
        await there.send("bad", "good")
        await there.work(handler)
        times = [at_s for at_s, name in there.calls if name == "bad"]
        assert times == [0.0, 1.25, 3.5, 7.75]
        (letter,) = await there.queues.dead(there.name, limit=9)
        info = letter.error_info
        assert (info.error_type, info.error_message) == ("network_error", "no answer")
        assert (info.retry_count, info.failed_at) == (3, "1970-01-12T13:46:48Z")
        assert letter.context == ErrorContext(QUEUE, there.seeding.world.version, 250)
        full = await there.queues.letter(there.name, letter.id)
        assert full is not None
        assert (full.message.body, full.message.attempts) == (b"bad", 4)
        assert [failed.is_dead for failed in there.failures] == [False, False, False, True]
        assert await there.tally() == TaskTally(1, 1, 0)


@waits
async def test_messages_of_one_task_have_their_own_tries(tmp_path: Path) -> None:
    async with bench(tmp_path) as there:
        await there.send("old", task="task")

        async def handler(_: SeedContext, held: HeldTask) -> TaskResult:
            if len(there.calls) == 3:
                await there.send("new", task="task")
            raise SeedError("away", kind=ErrorType.TIMEOUT)

        await there.work(handler)
        # The third try of `old` sends `new`, which is due at once.
        assert there.calls == [
            (0.0, "old"),
            (1.0, "old"),
            (3.0, "old"),
            (3.0, "new"),
            (4.0, "new"),
            (6.0, "new"),
            (7.0, "old"),
            (10.0, "new"),
        ]


@pytest.mark.req("C-85")
@pytest.mark.parametrize("kind", [ErrorType.PARSE, ErrorType.VALIDATION])
@waits
async def test_one_message_that_cannot_be_read_takes_no_other_with_it(
    tmp_path: Path, kind: ErrorType
) -> None:
    async def handler(_: SeedContext, held: HeldTask) -> TaskResult:
        if any(message.name == "bad" for message in held.loan.messages):
            raise SeedError("nonsense", kind=kind)
        return TaskResult(len(held.loan.messages))

    async with bench(tmp_path) as there:
        await there.send("a", "bad", "c", task="task")
        await there.work(handler)
        first = [names for at_s, names in there.calls if at_s == 0.0]
        assert first == ["a bad c", "a", "bad", "c"]
        assert [letter.message.name for letter in await there.queues.dead(there.name, limit=9)] == [
            "bad"
        ]
        assert await there.tally() == TaskTally(0, 1, 0)


@waits
async def test_what_may_pass_costs_a_task_one_try_for_all_its_messages(tmp_path: Path) -> None:
    async def handler(_: SeedContext, held: HeldTask) -> TaskResult:
        if len(there.calls) == 1:
            raise SeedError("away", kind=ErrorType.NETWORK)
        return TaskResult()

    there: Bench

    async with bench(tmp_path) as given:
        there = given
        await there.send("a", "b", task="task")
        await there.work(handler)
        assert there.calls == [(0.0, "a b"), (1.0, "a b")]


@pytest.mark.req("ERR-15")
def test_errors_have_five_classes() -> None:
    assert [kind.value for kind in ErrorType] == [
        "network_error",
        "timeout_error",
        "parse_error",
        "storage_error",
        "validation_error",
    ]


@pytest.mark.req("ERR-15")
@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        (SeedError("x", kind=ErrorType.PARSE), ErrorType.PARSE, "x"),
        (SeedError("x", kind="network_error"), ErrorType.NETWORK, "x"),
        (StoreError("x"), ErrorType.STORAGE, "x"),
        (BytesMissing("x"), ErrorType.STORAGE, "x"),
        (TimeoutError(), ErrorType.TIMEOUT, "TimeoutError"),
        (ConnectionResetError("x"), ErrorType.NETWORK, "ConnectionResetError: x"),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "x"), ErrorType.PARSE, None),
        (RecursionError("x"), ErrorType.PARSE, "RecursionError: x"),
        (KeyError("x"), ErrorType.VALIDATION, "KeyError: 'x'"),
        (SeedError("\ud800", kind=ErrorType.PARSE), ErrorType.PARSE, "?"),
        (StoreError("x" * (MAX_ERROR_CHARS + 1)), ErrorType.STORAGE, "x" * MAX_ERROR_CHARS),
    ],
)
def test_an_error_has_a_class_and_a_short_text(
    error: Exception, kind: ErrorType, message: str | None
) -> None:
    why = failure_of(error)
    assert why.kind is kind
    assert message is None or why.message == message


@waits
async def test_a_fault_of_ours_is_told_with_its_place_and_costs_one_task(tmp_path: Path) -> None:
    async def handler(_: SeedContext, held: HeldTask) -> TaskResult:
        if held.loan.task == "odd":
            raise ZeroDivisionError("by nothing")
        return TaskResult()

    async with bench(tmp_path) as there:
        await there.send("odd", "good")
        await there.work(handler)
        assert await there.tally() == TaskTally(1, 1, 0)
        assert "in handler" in there.hand.ear.warnings[0]
        assert there.failures[-1].message == "ZeroDivisionError: by nothing"


@waits
async def test_a_message_that_costs_every_worker_its_life_is_dead_after_so_many(
    tmp_path: Path,
) -> None:
    async with bench(tmp_path) as there:
        await there.send("killer", task="task")
        for lost in range(MAX_LOSSES):
            (loan,) = await there.borrow()
            assert loan.messages[0].losses == lost
            if lost == MAX_LOSSES - 1:
                await there.send("fresh", task="task")
            there.hand.clock.advance(61.0)
        await there.work(fine)
        assert [names for _, names in there.calls] == ["fresh"]
        (letter,) = await there.queues.dead(there.name, limit=9)
        assert letter.message.name == "killer"
        assert letter.error_info.error_type is ErrorType.TIMEOUT
        assert f"{MAX_LOSSES} workers" in letter.error_info.error_message


# --- loans ---------------------------------------------------------------------------------------


@waits
async def test_a_loan_is_renewed_while_somebody_works_on_it(tmp_path: Path) -> None:
    async def handler(_: SeedContext, held: HeldTask) -> TaskResult:
        first_s = held.loan.until_s
        for _turn in range(5):  # five leases long
            there.hand.clock.advance(0.05)
            await until(lambda: held.loan.until_s > there.hand.clock.now_s() + 0.05)
            assert await there.borrow() == []
        assert held.loan.until_s > first_s + 0.2
        return TaskResult()

    there: Bench

    async with bench(tmp_path, silence_s=0.06) as given:
        there = given
        await there.send("1")
        await there.work(handler)
        assert (await there.tally()).processed == 1


@waits
async def test_whoever_lost_its_loan_is_stopped_and_settles_nothing(tmp_path: Path) -> None:
    async def handler(_: SeedContext, held: HeldTask) -> TaskResult:
        there.hand.clock.advance(100.0)
        loans.extend(await there.borrow())
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            with pytest.raises(LeaseLost, match="somebody else"):
                await held.keep()
            raise
        raise AssertionError("nobody stopped it")

    there: Bench
    loans: list[Loan] = []

    async with bench(tmp_path, silence_s=0.06) as given:
        there = given
        await there.send("1")
        await there.consumer(handler).run(asyncio.Event())
        (loan,) = loans
        assert await there.queues.settle(there.name, loan, LoanSettlement(done=("1",)))
        assert there.failures == []
        # Whoever comes next looks whether we have written anything when it was not ours.
        (again,) = await there.borrow()
        assert [(one.name, one.body) for one in again.messages] == [("1!1", b"1")]
        assert "another worker" in there.hand.ear.warnings[0]


@waits
async def test_what_ends_after_its_loan_was_lost_is_not_counted(tmp_path: Path) -> None:
    async def handler(_: SeedContext, held: HeldTask) -> TaskResult:
        there.hand.clock.advance(100.0)
        assert len(await there.borrow()) == 1
        return TaskResult(7, robots=True)

    there: Bench

    async with bench(tmp_path) as given:
        there = given
        await there.send("1")
        await there.consumer(handler).run(asyncio.Event())
        assert await there.tally() == TaskTally(pending=1)


@dataclass
class Away:
    """Queues that renew nothing: their server is away. How often they are looked at is counted."""

    inner: SeedQueues
    renewals: int = 0
    looks: int = 0
    is_away: bool = True

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    async def renew(self, dataset: str, loan: Loan, *, lease_s: float, now_s: float) -> Loan | None:
        self.renewals += 1
        if self.is_away:
            raise StoreError("the server is away")
        return await self.inner.renew(dataset, loan, lease_s=lease_s, now_s=now_s)

    async def depth(self, dataset: str, queue: str, *, now_s: float) -> QueueDepth:
        self.looks += 1
        return await self.inner.depth(dataset, queue, now_s=now_s)


@pytest.mark.parametrize("comes_back", [True, False])
@waits
async def test_a_store_that_is_away_for_less_than_a_loan_stops_nobody(
    tmp_path: Path, comes_back: bool
) -> None:
    async with bench(tmp_path, silence_s=0.06) as there:
        away = Away(there.queues)
        there.seeding = replace(there.seeding, queues=away)
        leaving = asyncio.Event()

        async def handler(_: SeedContext, held: HeldTask) -> TaskResult:
            leaving.set()
            await until(lambda: away.renewals > 2)
            away.is_away = not comes_back
            there.hand.clock.advance(0.05 if comes_back else 1.0)
            seen = away.renewals
            await until(lambda: away.renewals > seen + 2)
            return TaskResult()

        await there.send("1")
        await there.consumer(handler).run(leaving)
        assert (await there.tally()).processed == int(comes_back)
        assert there.failures == []


@waits
async def test_what_was_renewed_a_moment_ago_is_not_renewed_before_each_write(
    tmp_path: Path,
) -> None:
    async with bench(tmp_path) as there:
        away = Away(there.queues, is_away=False)
        there.seeding = replace(there.seeding, queues=away)

        async def handler(_: SeedContext, held: HeldTask) -> TaskResult:
            for _write in range(3):
                await held.keep()
            assert away.renewals == 0
            there.hand.clock.advance(5.0)
            for _write in range(3):
                await held.keep()
            assert away.renewals == 1
            return TaskResult()

        await there.send("1")
        await there.work(handler)
        assert (await there.tally()).processed == 1, there.hand.ear.warnings


# --- leaving -------------------------------------------------------------------------------------


@waits
async def test_whoever_leaves_ends_what_is_in_hand_and_takes_no_more(tmp_path: Path) -> None:
    async with bench(tmp_path) as there:
        await there.send("1", "2", "3")
        leaving, gone = asyncio.Event(), asyncio.Event()

        async def handler(_: SeedContext, held: HeldTask) -> TaskResult:
            leaving.set()
            await gone.wait()
            return TaskResult()

        async with asyncio.TaskGroup() as group:
            group.create_task(there.consumer(handler, slots=2).run(leaving))
            await leaving.wait()
            gone.set()
        assert await there.tally() == TaskTally(2, 0, 1)
        assert (await there.depth()).waiting == 1


@pytest.mark.parametrize("how", ["leaving", "cancelled"])
@waits
async def test_what_cannot_end_in_time_is_given_back_without_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    monkeypatch.setattr(seed_queue, "FAREWELL_S", 0.01)

    async with bench(tmp_path) as there:
        await there.send("1", "2")
        leaving, begun = asyncio.Event(), asyncio.Event()

        async def handler(_: SeedContext, held: HeldTask) -> TaskResult:
            begun.set()
            await asyncio.Event().wait()
            return TaskResult()

        running = asyncio.create_task(there.consumer(handler).run(leaving))
        await begun.wait()
        if how == "leaving":
            leaving.set()
            await running
        else:
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
        assert there.failures == []
        loans = await there.borrow()
        tried = [(one.attempts, one.losses) for loan in loans for one in loan.messages]
        assert tried == [(0, 0), (0, 0)]


@waits
async def test_a_full_disk_stops_the_worker_and_kills_no_message(tmp_path: Path) -> None:
    async with bench(tmp_path) as there:
        await there.send("1", "2")

        async def handler(_: SeedContext, held: HeldTask) -> TaskResult:
            raise StoreFull("no space left")

        with pytest.raises(StoreFull):
            await there.consumer(handler).run(asyncio.Event())
        assert [one.attempts for loan in await there.borrow() for one in loan.messages] == [0, 0]


# --- both queues ---------------------------------------------------------------------------------


@pytest.mark.req("SED-14")
@waits
async def test_domains_that_files_bring_are_worked_on_until_nothing_is_left(tmp_path: Path) -> None:
    async with bench(tmp_path) as there:
        await there.send("file 1", "file 2", queue=RULES.seed_queue)

        async def on_file(_: SeedContext, held: HeldTask) -> TaskResult:
            await there.send(f"{held.loan.task}: a", f"{held.loan.task}: b")
            return TaskResult()

        await consume_both(
            there.seeding, on_file, fine, leaving=asyncio.Event(), is_done_when_empty=True
        )
        assert (await there.tally()).processed == 4
        assert await there.depth(RULES.seed_queue) == QueueDepth()


@pytest.mark.req("SED-35", "SED-36")
@waits
async def test_one_file_and_five_domains_are_in_hand_at_once(tmp_path: Path) -> None:
    async with bench(tmp_path) as there:
        await there.send("1", "2", "3", queue=RULES.seed_queue)
        await there.send(*(f"{number:02}" for number in range(12)))
        first, leaving = asyncio.Event(), asyncio.Event()

        async def hold(_: SeedContext, held: HeldTask) -> TaskResult:
            await (first if held.loan.task == "00" else leaving).wait()
            return TaskResult()

        async with asyncio.TaskGroup() as group:
            group.create_task(
                consume_both(there.seeding, hold, hold, leaving=leaving, is_done_when_empty=False)
            )
            await reached(there, lambda depth: depth.lent >= 5)
            await reached(there, lambda depth: depth.lent >= 1, RULES.seed_queue)
            lent = [(await there.depth(queue)).lent for queue in (RULES.seed_queue, QUEUE)]
            assert lent == [1, 5]
            first.set()
            await reached(there, lambda depth: depth.waiting < 7)
            depth = await there.depth()
            assert (depth.waiting, depth.lent) == (6, 5), "one for the one that is done"
            leaving.set()


@pytest.mark.req("SED-35", "C-86")
@pytest.mark.parametrize(("queue", "wait_s"), [(RULES.seed_queue, 30.0), (QUEUE, 60.0)])
@waits
async def test_each_queue_waits_its_own_time_for_a_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, queue: str, wait_s: float
) -> None:
    monkeypatch.setattr(seed_queue, "LONGEST_LOOK_S", 0.01)

    batches = replace(
        RULES,
        seed_batch=3,
        domain_batch=3,
        seed_batch_wait_s=30.0,
        domain_batch_wait_s=60.0,
    )
    async with bench(tmp_path, rules=batches) as there:
        looked = Away(there.queues)
        there.seeding = replace(there.seeding, queues=looked)
        if queue == QUEUE:  # of files that somebody else has in hand domains may come
            await there.send("file", queue=RULES.seed_queue)
            assert await there.borrow(RULES.seed_queue, lease_s=1000.0)
        await there.send("1", queue=queue)
        leaving = asyncio.Event()

        async def hold(_: SeedContext, held: HeldTask) -> TaskResult:
            await leaving.wait()
            return TaskResult()

        async with asyncio.TaskGroup() as group:
            group.create_task(
                consume_both(there.seeding, hold, hold, leaving=leaving, is_done_when_empty=False)
            )
            await until(lambda: looked.looks > 10)
            there.hand.clock.advance(wait_s - 0.1)
            before = looked.looks
            await until(lambda: looked.looks > before + 10)
            assert (await there.depth(queue)).waiting == 1
            there.hand.clock.advance(0.2)
            await reached(there, lambda depth: depth.waiting == 0, queue)
            leaving.set()


@waits
async def test_nothing_is_over_while_somebody_else_works_on_it(tmp_path: Path) -> None:
    async with bench(tmp_path) as there:
        looked = Away(there.queues)
        there.seeding = replace(there.seeding, queues=looked)
        await there.send("1")
        (loan,) = await there.borrow()
        running = asyncio.create_task(
            consume_both(
                there.seeding, fine, fine, leaving=asyncio.Event(), is_done_when_empty=True
            )
        )
        await until(lambda: looked.looks > 10)
        assert not running.done()
        assert await there.queues.settle(there.name, loan, LoanSettlement(back=("1",)))
        await running
        assert (await there.tally()).processed == 1


@waits
async def test_whoever_serves_goes_on_until_it_leaves(tmp_path: Path) -> None:
    async with bench(tmp_path) as there:
        leaving = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            running = group.create_task(
                consume_both(there.seeding, fine, fine, leaving=leaving, is_done_when_empty=False)
            )
            for name in ("1", "2"):
                await there.send(name)
                await reached(there, lambda depth: depth == QueueDepth())
            assert not running.done()
            leaving.set()
        assert (await there.tally()).processed == 2


@waits
async def test_an_error_of_the_store_ends_both(tmp_path: Path) -> None:
    async with bench(tmp_path) as there:
        await there.send("1")

        async def handler(_: SeedContext, held: HeldTask) -> TaskResult:
            raise StoreFull("no space left")

        with pytest.raises(StoreFull):
            await consume_both(
                there.seeding, fine, handler, leaving=asyncio.Event(), is_done_when_empty=False
            )
