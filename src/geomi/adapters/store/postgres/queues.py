"""Queues of the seed engine: a task is lent to one worker at a time, with what waits for it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial

from geomi.adapters.store.postgres.connection import PostgresDatabase
from geomi.adapters.store.postgres.session import PostgresSession, columns
from geomi.adapters.store.rows import Row
from geomi.adapters.store.statements import statements
from geomi.adapters.store.tables.seed_queues import (
    LoanRequest,
    checked_messages,
    lent_names,
    letter_of,
    letter_values,
    listed_letters,
    tally_of,
)
from geomi.model.dataset.queue import (
    MAX_LENT_MESSAGES,
    DeadLetter,
    Loan,
    LoanSettlement,
    Message,
    QueueDepth,
    TaskTally,
)
from geomi.model.dataset.seed import PartitionFilter

# Bodies that are sent as one array: the server takes 1 GB at once, and both sides hold a copy.
PARCEL_BYTES = 16 * 1024 * 1024
_ABOUT = ("queue", "task", "country", "category", "date")
SQL = statements("store.postgres", "queues")


class PostgresQueues:
    """`ports.queues.Queues` of one tenant."""

    def __init__(self, database: PostgresDatabase, tenant: str) -> None:
        self._database = database
        self._tenant = tenant

    async def send(self, dataset: str, messages: Sequence[Message]) -> int:
        """Let messages wait, in one transaction; return how many of them did not wait before."""
        checked = checked_messages(dataset, messages)
        if not checked:
            return 0
        return await self._database.write(
            lambda db: _send(db, _open_dataset(db, self._tenant, dataset), checked)
        )

    async def claim(
        self, dataset: str, queue: str, *, owner: str, tasks: int, lease_s: float, now_s: float
    ) -> list[Loan]:
        """Lend up to `tasks` tasks that have a message due, with every message of them that is."""
        ask = LoanRequest(queue, owner, now_s, now_s + lease_s)
        return await self._database.write(
            lambda db: claim(db, self._dataset(db, dataset), ask, tasks)
        )

    async def renew(self, dataset: str, loan: Loan, *, lease_s: float, now_s: float) -> Loan | None:
        """Prolong a loan; None where it was lost."""
        until_s = now_s + lease_s
        is_ours = await self._database.write(
            lambda db: renew(db, self._dataset(db, dataset), loan, until_s)
        )
        return replace(loan, until_s=until_s) if is_ours else None

    async def settle(self, dataset: str, loan: Loan, settlement: LoanSettlement) -> bool:
        """End messages of a loan in one transaction; False where the loan was lost."""
        return await self._database.write(
            lambda db: settle(db, self._dataset(db, dataset), loan, settlement)
        )

    async def send_unknown(self, dataset: str, messages: Sequence[Message]) -> int:
        """Let messages wait whose tasks nobody knows of, in one transaction; return how many."""
        checked = checked_messages(dataset, messages)
        if not checked:
            return 0
        return await self._database.write(
            lambda db: _send_unknown(db, _open_dataset(db, self._tenant, dataset), checked)
        )

    async def depth(self, dataset: str, queue: str, *, now_s: float) -> QueueDepth:
        """Say how full a queue is."""

        def read(db: PostgresSession) -> QueueDepth:
            values = {"dataset": self._dataset(db, dataset), "queue": queue, "now_s": now_s}
            waiting, lent, dead = db.row(SQL["depth"], values) or (0, 0, 0)
            return QueueDepth(waiting, lent, dead, db.value(SQL["next_ready"], values))

        return await self._database.read(read)

    async def tally(self, dataset: str, queue: str, which: PartitionFilter) -> TaskTally:
        """Count tasks by state."""
        values = {"queue": queue} | asdict(which)
        row = await self._database.read(
            lambda db: db.row(SQL["tally"], values | {"dataset": self._dataset(db, dataset)})
        )
        return tally_of(row or ())

    async def dead(self, dataset: str, *, after: str = "", limit: int) -> list[DeadLetter]:
        """List dead letters in the order of their ids, without their bodies."""
        values: dict[str, object] = {"after": after, "many": listed_letters(limit)}
        rows = await self._database.read(
            lambda db: db.rows(SQL["letters"], values | {"dataset": self._dataset(db, dataset)})
        )
        return [letter_of(row) for row in rows]

    async def letter(self, dataset: str, letter: str) -> DeadLetter | None:
        """Find a dead letter, with its body."""
        row = await self._database.read(
            lambda db: db.row(
                SQL["letter"], {"dataset": self._dataset(db, dataset), "letter": letter}
            )
        )
        return letter_of(row) if row else None

    async def revive(self, dataset: str, letter: str, *, now_s: float) -> bool:
        """Let a dead letter wait again, from the beginning; False where it is gone."""
        values: dict[str, object] = {"letter": letter, "now_s": now_s}
        return await self._database.write(
            lambda db: _revive(db, values | {"dataset": self._dataset(db, dataset)})
        )

    async def drop(self, dataset: str, letter: str, *, forgets: str = "") -> bool:
        """Forget a dead letter; False where it is gone."""
        values: dict[str, object] = {"letter": letter, "forgets": forgets}
        return await self._database.write(
            lambda db: _drop(db, values | {"dataset": self._dataset(db, dataset)})
        )

    async def erase(self) -> None:
        """Forget every dataset of the tenant."""
        await self._database.write(partial(_erase, tenant=self._tenant))

    def _dataset(self, db: PostgresSession, dataset: str) -> int | None:
        return _dataset(db, self._tenant, dataset)


def _dataset(db: PostgresSession, tenant: str, dataset: str) -> int | None:
    """Return the number of a dataset; None where nothing was ever sent for it."""
    row = db.row(SQL["dataset"], {"tenant": tenant, "dataset": dataset})
    return row[0] if row else None


def _open_dataset(db: PostgresSession, tenant: str, dataset: str) -> int:
    number = _dataset(db, tenant, dataset)
    if number is None:
        db.send(SQL["add_dataset"], {"tenant": tenant, "dataset": dataset})
        number = int(db.value(SQL["dataset"], {"tenant": tenant, "dataset": dataset}))
    return number


def _send(db: PostgresSession, dataset: int, messages: Sequence[Message]) -> int:
    about = columns(list(dict.fromkeys(map(_about, messages))), _ABOUT)
    db.send(SQL["add_task"], about | {"dataset": dataset})
    locked = db.rows(SQL["lock_tasks"], about | {"dataset": dataset})
    numbers = {(queue, task): number for number, queue, task in locked}
    awake: list[int] = []
    for parcel in _parcels(messages):
        rows = [
            (numbers[one.queue, one.task], one.name, float(one.due_s), one.body) for one in parcel
        ]
        values = columns(rows, ("task", "name", "due_s", "body"))
        awake += [task for (task,) in db.rows(SQL["add"], values | {"dataset": dataset})]
    if awake:
        db.send(SQL["wake"], {"tasks": sorted(set(awake))})
    return len(awake)


def _about(message: Message) -> tuple[str, ...]:
    partition = message.partition
    place = (partition.country, partition.category, partition.date)
    return (message.queue, message.task, *place)


def _parcels(messages: Sequence[Message]) -> Iterator[list[Message]]:
    """Divide messages so that no parcel is too large, unless one of them is."""
    parcel: list[Message] = []
    size = 0
    for message in messages:
        if parcel and size + len(message.body) > PARCEL_BYTES:
            yield parcel
            parcel, size = [], 0
        parcel.append(message)
        size += len(message.body)
    yield parcel


def _send_unknown(db: PostgresSession, dataset: int, messages: Sequence[Message]) -> int:
    about = columns(list(dict.fromkeys(map(_about, messages))), _ABOUT)
    locked = db.rows(SQL["lock_tasks"], about | {"dataset": dataset})
    known = {(queue, task) for _, queue, task in locked}
    unknown = [one for one in messages if (one.queue, one.task) not in known]
    return _send(db, dataset, unknown) if unknown else 0


def _revive(db: PostgresSession, values: Mapping[str, object]) -> bool:
    row = db.row(SQL["task_of"], values)
    if row is None or db.run(SQL["revive"], values) == 0:
        return False
    db.send(SQL["wake"], {"tasks": [row[0]]})
    return True


def _drop(db: PostgresSession, values: Mapping[str, object]) -> bool:
    row = db.row(SQL["task_of"], values)
    if row is None or db.run(SQL["drop"], values) == 0:
        return False
    db.send(SQL["forget"], {**values, "task": row[0]})
    return True


def _erase(db: PostgresSession, *, tenant: str) -> None:
    for name in ("erase_messages", "erase_tasks", "erase_datasets"):
        db.send(SQL[name], {"tenant": tenant})


def claim(db: PostgresSession, dataset: int | None, ask: LoanRequest, many: int) -> list[Loan]:
    """Lend up to `many` tasks that have a message due, with every message of them that is."""
    values = {"dataset": dataset, "queue": ask.queue, "now_s": ask.now_s, "many": max(0, many)}
    rows = db.rows(SQL["due_tasks"], values)
    if not rows:
        return []
    tasks = [row[0] for row in rows]
    tokens = [row[-1] + 1 for row in rows]
    db.send(SQL["lose"], {"tasks": tasks})
    loans: dict[str, object] = {"task": tasks, "token": tokens}
    db.send(SQL["hold"], loans | {"owner": ask.owner, "until_s": ask.until_s})
    last = _last_names(db, tasks, ask.now_s)
    held = [(task, token) for task, token in zip(tasks, tokens, strict=True) if task in last]
    for task, token in zip(tasks, tokens, strict=True):
        if task not in last:  # by another clock than the one that it was put off by
            db.send(SQL["close"], {"task": task, "token": token})
    lent = columns([(*loan, last[loan[0]]) for loan in held], ("task", "token", "last"))
    messages: dict[int, list[Row]] = defaultdict(list)
    for task, *message in db.rows(SQL["lend"], lent | {"now_s": ask.now_s}):
        messages[task].append(tuple(message))
    return [ask.loan(row, sorted(messages[row[0]])) for row in rows if row[0] in last]


def _last_names(db: PostgresSession, tasks: Sequence[int], now_s: float) -> dict[int, str]:
    """Return up to which name messages of each task are lent."""
    values = {"tasks": list(tasks), "now_s": now_s, "many": MAX_LENT_MESSAGES}
    sized: dict[int, list[tuple[str, int]]] = defaultdict(list)
    for task, name, size in db.rows(SQL["due_messages"], values):
        sized[task].append((name, size))
    return {task: lent_names(found)[-1] for task, found in sized.items()}


def _held(db: PostgresSession, dataset: int | None, loan: Loan) -> dict[str, object] | None:
    """Return what finds a loan's rows, with its task locked; None where it was lost."""
    row = db.row(SQL["task"], {"dataset": dataset, "queue": loan.queue, "task": loan.task})
    if row is None or row[1] != loan.token:
        return None
    return {"task": row[0], "token": loan.token}


def renew(db: PostgresSession, dataset: int | None, loan: Loan, until_s: float) -> bool:
    """Prolong a loan; False where it was lost."""
    held = _held(db, dataset, loan)
    return held is not None and db.run(SQL["renew"], held | {"until_s": until_s}) == 1


def end_dead(db: PostgresSession, owners: Sequence[str], now_s: float) -> None:
    """End the loans of owners that are dead."""
    db.send(SQL["pass"], {"owners": list(owners), "now_s": now_s})


def settle(
    db: PostgresSession, dataset: int | None, loan: Loan, settlement: LoanSettlement
) -> bool:
    """End messages of a loan; False where it was lost."""
    held = _held(db, dataset, loan)
    if held is None:
        return False
    if settlement.done:
        db.send(SQL["done"], held | {"names": list(settlement.done)})
    if settlement.back:
        db.send(SQL["back"], held | {"names": list(settlement.back)})
    if settlement.later:
        later = [(name, float(due_s)) for name, due_s in settlement.later]
        db.send(SQL["later"], held | columns(later, ("name", "due_s")))
    for letter in settlement.dead:
        db.send(SQL["bury"], held | letter_values(letter))
    if settlement.worked is not None:
        db.send(SQL["worked"], held | asdict(settlement.worked))
    db.send(SQL["close"], held)
    return True
