"""One queue's consumer: it borrows as many tasks as it has slots, and ends each for itself.

Rules kept:
- A message is acknowledged by itself (C-85): what one task comes to costs no other anything. Where
  messages of one task fail together for what one of them says, each is tried alone.
- A handler that raises costs its messages a try; after the last they are dead letters, in the
  transaction that ends their delivery (SED-42, SED-43).
- A loan that was lost is settled by nobody here; its task is looked at once more by whoever comes.
- Whoever leaves takes no more, ends what is in hand, and gives back what it cannot end in time.
"""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from geomi.engine.rest import rest
from geomi.engine.seeds.context import Seeding
from geomi.engine.seeds.dead_letters import OF_ONE, Failure, buried, failure_of, put_off, worn_out
from geomi.engine.seeds.held import Hand, Handler
from geomi.errors import GeomiError, LeaseLost, StoreFull
from geomi.model.event import SeedFailed, Warned
from geomi.model.message import Loan, Message, Settlement
from geomi.model.seed import ErrorType

# How long an idle consumer waits before it looks again, doubled while nothing comes. Others may
# send at any time.
SHORTEST_LOOK_S = 0.05
LONGEST_LOOK_S = 1.0
AGAIN = "!"  # stands before the token of a lost loan, in the name of what looks after it
# How long whoever leaves still works on what it has in hand.
FAREWELL_S = 20.0


async def _never() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Shape:
    """What is told apart between queues.

    Args:
        slots: tasks in hand at once.
        batch_wait_s: how long an idle consumer waits for so many to come together.
        more_may_come: whether a batch may still grow; else it is not waited for.
    """

    queue: str
    handler: Handler
    slots: int
    batch_wait_s: float = 0.0
    more_may_come: Callable[[], Awaitable[bool]] = _never


class Consumer:
    """Works on one queue of a dataset.

    Args:
        is_over: whether nothing is left to do, asked when this queue seems empty.
        on_ended: is called whenever a task was ended.
    """

    def __init__(
        self,
        seeding: Seeding,
        shape: Shape,
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
        """Work until somebody leaves, or nothing is left to do."""
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
        await rest(self._changed, wait_s)

    async def _say_farewell(self) -> None:
        """Let what is in hand end; give back what takes too long."""
        if self._busy:
            await asyncio.wait(self._busy, timeout=FAREWELL_S)
        for task in self._busy:
            task.cancel()

    async def _work(self, loan: Loan) -> None:
        """Work on one task, and settle what became of its messages."""
        hand = Hand(self._seeding, loan)
        try:
            await self._try_all(hand)
        except LeaseLost as lost:
            self._seeding.world.sink.emit(Warned("", lost.message))
            await self._look_again(loan)
        except (asyncio.CancelledError, StoreFull):
            # We leave, or have no room to write: somebody else may be able to work on it at once.
            names = tuple(message.name for message in loan.messages)
            await self._seeding.queues.settle(
                self._seeding.dataset.name, hand.loan, Settlement(back=names)
            )
            raise

    async def _look_again(self, loan: Loan) -> None:
        """Have somebody look at a task once more that we may have written to when it was not ours.

        A process can be stopped between the moment it asks and the moment it writes, for as long as
        anybody likes; no file can be told whose writes it shall refuse. A look costs nothing where
        everything is as its checkpoint says.
        """
        first = loan.messages[0]
        name = f"{first.name.partition(AGAIN)[0]}{AGAIN}{loan.token}"
        await self._seeding.queues.send(self._seeding.dataset.name, [replace(first, name=name)])

    async def _try_all(self, hand: Hand) -> None:
        began_s = self._seeding.world.clock.now_s()
        worn = worn_out(hand.loan.messages)
        if worn:
            why = Failure(ErrorType.TIMEOUT, f"{worn[0].losses} workers were lost with it in hand")
            await self._fail(hand, buried(self._seeding, worn, why, began_s=began_s), why)
        messages = tuple(one for one in hand.loan.messages if one not in worn)
        failure = await self._try(hand, messages) if messages else None
        if failure is None:
            return
        if failure.kind not in OF_ONE or len(messages) == 1:
            end = put_off(self._seeding, messages, failure, began_s=began_s)
            await self._fail(hand, end, failure)
            return
        for message in messages:
            if (alone := await self._try(hand, (message,))) is not None:
                end = put_off(self._seeding, (message,), alone, began_s=began_s)
                await self._fail(hand, end, alone)

    async def _try(self, hand: Hand, messages: tuple[Message, ...]) -> Failure | None:
        """Let the handler work on messages and acknowledge them; say why that failed."""
        try:
            worked = await hand.work(self._shape.handler, messages)
        except (LeaseLost, StoreFull):
            raise
        except Exception as error:  # a fault of ours, too, must cost these messages alone
            if not isinstance(error, GeomiError):
                told = f"`{hand.loan.task}` could not be worked on: {traceback.format_exc()}"
                self._seeding.world.sink.emit(Warned("", told))
            return failure_of(error)
        names = tuple(message.name for message in messages)
        await self._settle(hand, Settlement(done=names, worked=worked))
        return None

    async def _fail(self, hand: Hand, end: Settlement, why: Failure) -> None:
        await self._settle(hand, end)
        loan = hand.loan
        self._seeding.world.sink.emit(
            SeedFailed(loan.queue, loan.task, why.kind, why.message, is_dead=bool(end.dead))
        )

    async def _settle(self, hand: Hand, end: Settlement) -> None:
        if not await self._seeding.queues.settle(self._seeding.dataset.name, hand.loan, end):
            raise LeaseLost(f"the loan of `{hand.loan.task}` was lost before it was settled")
