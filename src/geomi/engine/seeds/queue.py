"""Consume the two queues of a dataset in one process: raw files and domains.

Rules kept:
- A consumer borrows as many tasks as it has slots. Each message is acknowledged by itself (C-85),
  so one task's end does not affect other tasks. If messages fail together, each is tried alone.
- A handler that raises costs its messages a try. After the last try they are dead letters, in the
  transaction that ends their delivery (SED-42, SED-43).
- What a process has in hand is marked. A task of which two have died is worked on with care: its
  files are rehearsed in the process that can be killed. After a third death it is given up.
- A loan is renewed during the work on its task. A lost loan stops the handler and settles nothing:
  another worker has it now, and the task is checked once more.
- A consumer that drains borrows no more, finishes its tasks, and gives back what it cannot finish
  in time.
"""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from geomi.engine.host.lease import hear_every_s
from geomi.engine.in_hand import in_hand
from geomi.engine.seeds.context import HeldTask, SeedContext
from geomi.engine.seeds.dead_letters import (
    ONE_MESSAGE_ERRORS,
    TaskFailure,
    failure_of,
    give_up,
    lost_too_often,
    try_later,
)
from geomi.engine.seeds.domains import collect_domain
from geomi.engine.seeds.raw_files import process_file
from geomi.engine.worker.heartbeat import BEATS_PER_SILENCE
from geomi.engine.world import wait_for_event
from geomi.errors import GeomiError, LeaseLost, StoreError, StoreFull
from geomi.model.dataset.queue import Loan, LoanSettlement, Message, TaskResult
from geomi.model.dataset.seed import ErrorType
from geomi.model.event import SeedFailed, Warned
from geomi.model.worker import ALONE_AFTER, POISONED_AFTER, WorkInHand, WorkKind
from geomi.text.identifiers import sha256_hex

# How long an idle consumer waits before it looks again, doubled while nothing comes. Others may
# send at any time.
SHORTEST_LOOK_S = 0.05
LONGEST_LOOK_S = 1.0
AGAIN = "!"  # stands before the token of a lost loan, in the name of what looks after it
# How long whoever leaves still works on what it has in hand.
FAREWELL_S = 20.0
TaskHandler = Callable[[SeedContext, HeldTask], Awaitable[TaskResult]]


async def work_on_queues(
    seeding: SeedContext, *, leaving: asyncio.Event, is_done_when_empty: bool
) -> None:
    """Work on the queues of a dataset until `leaving` is set.

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
    seeding: SeedContext,
    on_file: TaskHandler,
    on_domain: TaskHandler,
    *,
    leaving: asyncio.Event,
    is_done_when_empty: bool,
) -> None:
    """Let handlers work on both queues, beside each other."""
    rules = seeding.config.seeds
    both = _Both(seeding, is_done_when_empty=is_done_when_empty)
    shapes = (
        QueueSettings(
            rules.seed_queue, on_file, rules.seed_batch, rules.seed_batch_wait_s, both.is_served
        ),
        QueueSettings(
            rules.domain_queue,
            on_domain,
            rules.domain_batch,
            rules.domain_batch_wait_s,
            both.has_files,
        ),
    )
    for shape in shapes:
        consumer = QueueConsumer(seeding, shape, is_over=both.is_over, on_ended=both.nudge)
        both.consumers.append(consumer)
    try:
        async with asyncio.TaskGroup() as group:
            for consumer in both.consumers:
                group.create_task(consumer.run(leaving), name="seeds")
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from failures


class _Both:
    """The state that the two consumers share."""

    def __init__(self, seeding: SeedContext, *, is_done_when_empty: bool) -> None:
        self._seeding = seeding
        self._is_done_when_empty = is_done_when_empty
        self._is_over = False
        self.consumers: list[QueueConsumer] = []

    def nudge(self) -> None:
        """Let both look again: a file that is done has sent domains."""
        for consumer in self.consumers:
            consumer.nudge()

    async def is_served(self) -> bool:
        """Whether raw files may arrive at any time."""
        return not self._is_done_when_empty

    async def has_files(self) -> bool:
        """Whether raw files wait or are being processed: they bring domains."""
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


async def _never() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class QueueSettings:
    """The settings that differ between the two queues.

    Args:
        slots: tasks borrowed at once.
        batch_wait_s: how long an idle consumer waits for so many to come together.
        more_may_come: whether a batch may still grow; else it is not waited for.
    """

    queue: str
    handler: TaskHandler
    slots: int
    batch_wait_s: float = 0.0
    more_may_come: Callable[[], Awaitable[bool]] = _never


class QueueConsumer:
    """Works on one queue of a dataset.

    Args:
        is_over: whether nothing is left to do, asked when this queue seems empty.
        on_ended: is called whenever a task was ended.
    """

    def __init__(
        self,
        seeding: SeedContext,
        shape: QueueSettings,
        *,
        is_over: Callable[[], Awaitable[bool]],
        on_ended: Callable[[], None] = lambda: None,
    ) -> None:
        self._seeding = seeding
        self._shape = shape
        self._is_over = is_over
        self._on_ended = on_ended
        self._changed = asyncio.Event()
        self._busy: set[asyncio.Task[None]] = set()
        self._look_s = SHORTEST_LOOK_S
        self._filling_s: float | None = None  # since when a batch is waited for
        self.longest_look_s = LONGEST_LOOK_S

    def nudge(self) -> None:
        """Look at the queue again, without waiting."""
        self._look_s = SHORTEST_LOOK_S
        self._changed.set()

    async def run(self, leaving: asyncio.Event) -> None:
        """Work until `leaving` is set, or nothing is left to do."""
        try:
            async with asyncio.TaskGroup() as group:
                watching = group.create_task(self._watch(leaving), name="leaving")
                await self._consume(group, leaving)
                await self._say_farewell()
                watching.cancel()
        except ExceptionGroup as failures:
            raise failures.exceptions[0] from failures

    async def _watch(self, leaving: asyncio.Event) -> None:
        await leaving.wait()
        self.nudge()

    async def _consume(self, group: asyncio.TaskGroup, leaving: asyncio.Event) -> None:
        while not leaving.is_set():
            self._changed.clear()
            loans = await self._claim()
            for loan in loans:
                self._start(group, loan)
            if not loans and not self._busy and await self._is_over():
                return
            if not leaving.is_set():
                await self._rest(came=bool(loans))

    async def _claim(self) -> list[Loan]:
        free = self._shape.slots - len(self._busy)
        if free == 0 or await self._is_filling():
            return []
        world = self._seeding.world
        return list(
            await self._seeding.queues.claim(
                self._seeding.dataset.name,
                self._shape.queue,
                owner=world.owner,
                tasks=free,
                lease_s=world.silence_s,
                now_s=world.clock.now_s(),
            )
        )

    async def _is_filling(self) -> bool:
        """Whether an idle consumer still waits for a batch to come together (C-86)."""
        shape, now_s = self._shape, self._seeding.world.clock.now_s()
        if self._busy or shape.batch_wait_s == 0 or shape.slots == 1:
            return False
        depth = await self._seeding.queues.depth(
            self._seeding.dataset.name, shape.queue, now_s=now_s
        )
        is_partial = 0 < depth.waiting < shape.slots
        if not is_partial or not await shape.more_may_come():
            self._filling_s = None
            return False
        self._filling_s = now_s if self._filling_s is None else self._filling_s
        if now_s < self._filling_s + shape.batch_wait_s:
            return True
        self._filling_s = None
        return False

    def _start(self, group: asyncio.TaskGroup, loan: Loan) -> None:
        task = group.create_task(self._work(loan), name=f"{loan.queue} {loan.task}")
        self._busy.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._busy.discard(task)
        self.nudge()
        self._on_ended()

    async def _rest(self, *, came: bool) -> None:
        if len(self._busy) == self._shape.slots:
            await self._changed.wait()
            return
        world = self._seeding.world
        depth = await self._seeding.queues.depth(
            self._seeding.dataset.name, self._shape.queue, now_s=world.clock.now_s()
        )
        self._look_s = SHORTEST_LOOK_S if came else min(self._look_s * 2, self.longest_look_s)
        wait_s = self._look_s
        if depth.next_s is not None and depth.next_s > world.clock.now_s():
            wait_s = min(wait_s, depth.next_s - world.clock.now_s())
        await wait_for_event(self._changed, wait_s)

    async def _say_farewell(self) -> None:
        """Let borrowed tasks end; give back those that take too long."""
        if self._busy:
            await asyncio.wait(self._busy, timeout=FAREWELL_S)
        for task in self._busy:
            task.cancel()

    async def _work(self, loan: Loan) -> None:
        """Work on one task, and settle what became of its messages."""
        held = HeldLoan(self._seeding, loan)
        try:
            await self._try_all(held)
        except LeaseLost as lost:
            self._seeding.world.sink.emit(Warned("", lost.message))
            await self._look_again(loan)
        except (asyncio.CancelledError, StoreFull):
            # We leave, or have no room to write: somebody else may be able to work on it at once.
            names = tuple(message.name for message in loan.messages)
            await self._seeding.queues.settle(
                self._seeding.dataset.name, held.loan, LoanSettlement(back=names)
            )
            raise

    async def _look_again(self, loan: Loan) -> None:
        """Have a task checked once more if we may have written to it without its loan.

        A process can be stopped between the moment it asks and the moment it writes, for as long as
        anybody likes; no file can be told whose writes it shall refuse. A look costs nothing where
        everything is as its checkpoint says.
        """
        first = loan.messages[0]
        name = f"{first.name.partition(AGAIN)[0]}{AGAIN}{loan.token}"
        await self._seeding.queues.send(self._seeding.dataset.name, [replace(first, name=name)])

    async def _try_all(self, held: HeldLoan) -> None:
        began_s = self._seeding.world.clock.now_s()
        worn = lost_too_often(held.loan.messages)
        if worn:
            why = TaskFailure(
                ErrorType.TIMEOUT, f"{worn[0].losses} workers died while they processed it"
            )
            await self._fail(held, give_up(self._seeding, worn, why, began_s=began_s), why)
        messages = tuple(one for one in held.loan.messages if one not in worn)
        deaths = await held.look_back()
        if messages and deaths >= POISONED_AFTER:
            told = f"{deaths} workers died while they had it in hand"
            why = TaskFailure(ErrorType.PARSE, told)
            await self._fail(held, give_up(self._seeding, messages, why, began_s=began_s), why)
            await held.clear()  # a person who tries it again means it
            return
        failure = await self._try(held, messages) if messages else None
        if failure is None:
            return
        if failure.kind not in ONE_MESSAGE_ERRORS or len(messages) == 1:
            end = try_later(self._seeding, messages, failure, began_s=began_s)
            await self._fail(held, end, failure)
            return
        for message in messages:
            if (alone := await self._try(held, (message,))) is not None:
                end = try_later(self._seeding, (message,), alone, began_s=began_s)
                await self._fail(held, end, alone)

    async def _try(self, held: HeldLoan, messages: tuple[Message, ...]) -> TaskFailure | None:
        """Let the handler work on messages and acknowledge them; say why that failed."""
        try:
            worked = await held.work(self._shape.handler, messages)
        except (LeaseLost, StoreFull):
            raise
        except Exception as error:  # a fault of ours, too, must cost these messages alone
            if not isinstance(error, GeomiError):
                told = f"`{held.loan.task}` could not be processed: {traceback.format_exc()}"
                self._seeding.world.sink.emit(Warned("", told))
            return failure_of(error)
        names = tuple(message.name for message in messages)
        await self._settle(held, LoanSettlement(done=names, worked=worked))
        await held.clear()
        return None

    async def _fail(self, held: HeldLoan, end: LoanSettlement, why: TaskFailure) -> None:
        await self._settle(held, end)
        loan = held.loan
        self._seeding.world.sink.emit(
            SeedFailed(loan.queue, loan.task, why.kind, why.message, is_dead=bool(end.dead))
        )

    async def _settle(self, held: HeldLoan, end: LoanSettlement) -> None:
        if not await self._seeding.queues.settle(self._seeding.dataset.name, held.loan, end):
            raise LeaseLost(f"the loan of `{held.loan.task}` was lost before it was settled")


class HeldLoan:
    """A loan of this process, as long as it is one."""

    def __init__(self, seeding: SeedContext, loan: Loan) -> None:
        self._seeding = seeding
        self._clock = seeding.world.clock
        self._lease_s = seeding.world.silence_s
        self._renewed_s = loan.until_s - self._lease_s
        self._deaths = 0
        self.loan = loan
        told = f"{loan.queue} {loan.task}"
        name = bytes.fromhex(sha256_hex(f"{seeding.dataset.name} {told}"))
        self._work = WorkInHand(seeding.world.store.tenant, WorkKind.TASK, name, told)

    @property
    def alone(self) -> bool:
        """Whether it is worked on with care, because processes have died of it."""
        return self._deaths >= ALONE_AFTER

    async def look_back(self) -> int:
        """Return how many processes have died of it."""
        suspects = self._seeding.world.store.suspects
        found = await suspects.find(WorkKind.TASK, self._work.name)
        self._deaths = found.deaths if found else 0
        return self._deaths

    async def clear(self) -> None:
        """Forget what has died of it."""
        if self._deaths:
            await self._seeding.world.store.suspects.clear(WorkKind.TASK, self._work.name)

    async def keep(self) -> None:
        """Make sure that it is still ours, before something is written; `LeaseLost` if not.

        What was renewed a moment ago is ours for much longer than a write takes.
        """
        now_s = self._clock.now_s()
        if now_s - self._renewed_s >= hear_every_s(self._lease_s):
            await self._renew(now_s)

    async def work(self, handler: TaskHandler, messages: tuple[Message, ...]) -> TaskResult:
        """Let a handler work on some messages of the loan, which is renewed meanwhile."""
        try:
            async with asyncio.TaskGroup() as group:
                beating = group.create_task(self._beat(), name=f"renew {self.loan.task}")
                doing = _handled(handler, self._seeding, _Part(self, messages))
                worked = await in_hand(self._seeding.world.mark, self._work, doing, is_caught=True)
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
                    raise LeaseLost(f"the loan of `{self.loan.task}` has ended") from None

    async def _renew(self, now_s: float) -> None:
        renewed = await self._seeding.queues.renew(
            self._seeding.dataset.name, self.loan, lease_s=self._lease_s, now_s=now_s
        )
        if renewed is None:
            raise LeaseLost(f"the loan of `{self.loan.task}` was lost: another worker has it")
        self._renewed_s = now_s
        self.loan = replace(self.loan, until_s=renewed.until_s)


async def _handled(handler: TaskHandler, seeding: SeedContext, held: HeldTask) -> TaskResult:
    return await handler(seeding, held)


class _Part:
    """`HeldTask` of some messages of a loan."""

    def __init__(self, held: HeldLoan, messages: tuple[Message, ...]) -> None:
        self._held = held
        self._messages = messages

    @property
    def loan(self) -> Loan:
        return replace(self._held.loan, messages=self._messages)

    @property
    def alone(self) -> bool:
        return self._held.alone

    async def keep(self) -> None:
        await self._held.keep()


def _reason(failures: ExceptionGroup[Exception]) -> Exception:
    """Return why work ended: first of all that the loan was lost, else the first error in it."""
    lost, others = failures.split(LeaseLost)
    first = (lost or others or failures).exceptions[0]
    return _reason(first) if isinstance(first, ExceptionGroup) else first
