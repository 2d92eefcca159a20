"""Queues of the seed engine: a task is lent to one worker at a time, with what waits for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from statistics import fmean

from geomi.adapters.store.tables.queues import checked_messages, lent_names, listed_letters
from geomi.model.dataset.queue import (
    MAX_LENT_MESSAGES,
    DeadLetter,
    Loan,
    LoanSettlement,
    Message,
    QueueDepth,
    TaskState,
    TaskTally,
)
from geomi.model.dataset.seed import PartitionFilter
from tests.contracts.reference.world import SeedTask, World


class MemoryQueues:
    """`ports.dataset.SeedQueues` of one tenant."""

    def __init__(self, world: World, tenant: str) -> None:
        self._tasks = world.seed_tasks
        self._tenant = tenant

    async def send(self, dataset: str, messages: Sequence[Message]) -> int:
        """Let messages wait; return how many of them did not wait before."""
        new = 0
        for message in checked_messages(dataset, messages):
            key = (self._tenant, dataset, message.queue, message.task)
            task = self._tasks.setdefault(key, SeedTask(message.partition))
            if message.name not in task.messages:
                task.dead.pop(message.name, None)
                task.messages[message.name] = replace(message, attempts=0, losses=0)
                task.wake()
                new += 1
        return new

    async def claim(
        self, dataset: str, queue: str, *, owner: str, tasks: int, lease_s: float, now_s: float
    ) -> list[Loan]:
        """Lend up to `tasks` tasks that have a message due, with every message of them that is."""
        due = sorted(
            (task.ready_s, name)
            for name, task in self._of_queue(dataset, queue)
            if task.ready_s is not None and task.ready_s <= now_s
        )
        loans: list[Loan] = []
        for _, name in due[: max(0, tasks)]:
            task = self._tasks[self._tenant, dataset, queue, name]
            if messages := _lend(task, owner, now_s + lease_s, now_s):
                loans.append(Loan(queue, name, task.token, now_s + lease_s, messages))
        return loans

    async def renew(self, dataset: str, loan: Loan, *, lease_s: float, now_s: float) -> Loan | None:
        """Prolong a loan; None where it was lost."""
        task = self._held(dataset, loan)
        if task is None or task.owner is None:
            return None
        task.ready_s = now_s + lease_s
        return replace(loan, until_s=task.ready_s)

    async def settle(self, dataset: str, loan: Loan, settlement: LoanSettlement) -> bool:
        """End messages of a loan; False where the loan was lost."""
        task = self._held(dataset, loan)
        if task is None:
            return False
        if task.owner is not None:
            _settle(task, settlement)
        return True

    async def send_unknown(self, dataset: str, messages: Sequence[Message]) -> int:
        """Let messages wait whose tasks nobody knows of; return how many."""
        unknown = [
            one
            for one in messages
            if (self._tenant, dataset, one.queue, one.task) not in self._tasks
        ]
        return await self.send(dataset, unknown)

    async def depth(self, dataset: str, queue: str, *, now_s: float) -> QueueDepth:
        """Say how full a queue is."""
        waiting = lent = dead = 0
        ready: list[float] = []
        for _, task in self._of_queue(dataset, queue):
            dead += len(task.dead)
            if task.ready_s is None:
                continue
            ready.append(task.ready_s)
            if task.owner is not None and task.ready_s > now_s:
                lent += len(task.messages)
            else:
                waiting += len(task.messages)
        return QueueDepth(waiting, lent, dead, min(ready, default=None))

    async def tally(self, dataset: str, queue: str, which: PartitionFilter) -> TaskTally:
        """Count tasks by state."""
        every = (task for _, task in self._of_queue(dataset, queue))
        tasks = [task for task in every if which.matches(task.partition)]
        states = [task.state for task in tasks]
        took = [task.worked.duration_ms for task in tasks if task.state is TaskState.PROCESSED]
        return TaskTally(
            processed=len(took),
            failed=states.count(TaskState.FAILED),
            pending=states.count(TaskState.PENDING),
            robots=sum(bool(task.worked.robots) for task in tasks),
            sitemaps=sum(bool(task.worked.sitemap) for task in tasks),
            duration_ms=fmean(took) if took else 0.0,
        )

    async def dead(self, dataset: str, *, after: str = "", limit: int) -> list[DeadLetter]:
        """List dead letters in the order of their ids, without their bodies."""
        letters = [letter for _, letter in self._letters(dataset) if letter.id > after]
        letters.sort(key=lambda letter: letter.id)
        return [
            replace(letter, message=replace(letter.message, body=b""))
            for letter in letters[: listed_letters(limit)]
        ]

    async def letter(self, dataset: str, letter: str) -> DeadLetter | None:
        """Find a dead letter, with its body."""
        return next((one for _, one in self._letters(dataset) if one.id == letter), None)

    async def revive(self, dataset: str, letter: str, *, now_s: float) -> bool:
        """Let a dead letter wait again, from the beginning; False where it is gone."""
        for task, one in self._letters(dataset):
            if one.id == letter:
                message = one.message
                del task.dead[message.name]
                again = replace(message, attempts=0, losses=0, due_s=now_s)
                task.messages[message.name] = again
                task.wake()
                return True
        return False

    async def drop(self, dataset: str, letter: str, *, forgets: str = "") -> bool:
        """Forget a dead letter; False where it is gone."""
        for task, one in self._letters(dataset):
            if one.id == letter:
                del task.dead[one.message.name]
                is_failed = task.state is TaskState.FAILED and not task.dead
                if is_failed and one.message.queue == forgets:
                    task.state = TaskState.DROPPED
                return True
        return False

    async def erase(self) -> None:
        """Forget every dataset of the tenant."""
        for key in [key for key in self._tasks if key[0] == self._tenant]:
            del self._tasks[key]

    def _of_queue(self, dataset: str, queue: str) -> Iterator[tuple[str, SeedTask]]:
        for (*whose, name), task in self._tasks.items():
            if whose == [self._tenant, dataset, queue]:
                yield name, task

    def _letters(self, dataset: str) -> list[tuple[SeedTask, DeadLetter]]:
        return [
            (task, letter)
            for (tenant, its, _, _), task in self._tasks.items()
            if (tenant, its) == (self._tenant, dataset)
            for letter in task.dead.values()
        ]

    def _held(self, dataset: str, loan: Loan) -> SeedTask | None:
        """Return the task of a loan; None where it was lost."""
        task = self._tasks.get((self._tenant, dataset, loan.queue, loan.task))
        return task if task is not None and task.token == loan.token else None


def _lend(task: SeedTask, owner: str, until_s: float, now_s: float) -> tuple[Message, ...]:
    for name in task.lent:
        message = task.messages[name]
        task.messages[name] = replace(message, losses=message.losses + 1)
    due = sorted(one.name for one in task.messages.values() if one.due_s <= now_s)
    sized = ((name, len(task.messages[name].body)) for name in islice(due, MAX_LENT_MESSAGES))
    task.lent = set(lent_names(sized))
    task.token += 1
    task.owner, task.ready_s = owner, until_s
    if not task.lent:
        _give_back(task)
    return tuple(task.messages[name] for name in sorted(task.lent))


def _settle(task: SeedTask, settlement: LoanSettlement) -> None:
    for name in task.lent.intersection(settlement.done):
        del task.messages[name]
    for name, due_s in settlement.later:
        if name in task.lent:
            message = task.messages[name]
            task.messages[name] = replace(message, attempts=message.attempts + 1, due_s=due_s)
    for letter in settlement.dead:
        name = letter.message.name
        if name in task.lent:
            buried = replace(task.messages.pop(name), attempts=letter.message.attempts)
            task.dead[name] = replace(letter, message=buried)
    task.lent -= {*settlement.done, *settlement.back, *(name for name, _ in settlement.later)}
    task.lent -= {letter.message.name for letter in settlement.dead}
    task.worked = settlement.worked or task.worked
    if not task.lent:
        _give_back(task)


def _give_back(task: SeedTask) -> None:
    task.owner, task.ready_s = None, task.first_due_s()
    if task.messages:
        task.state = TaskState.PENDING
    else:
        task.state = TaskState.FAILED if task.dead else TaskState.PROCESSED
