"""Queues of the seed engine: a task is lent to one worker at a time, with what waits for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial

from geomi.adapters.ledger.queue import (
    Ask,
    checked_messages,
    letter_of,
    listed_letters,
    tally_of,
)
from geomi.adapters.postgres.connection import Database
from geomi.adapters.postgres.loans import SQL, claim, renew, settle
from geomi.adapters.postgres.session import Session, columns
from geomi.model.dataset.queue import (
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


class PostgresQueues:
    """`ports.queues.Queues` of one tenant."""

    def __init__(self, database: Database, tenant: str) -> None:
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
        ask = Ask(queue, owner, now_s, now_s + lease_s)
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

        def read(db: Session) -> QueueDepth:
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

    def _dataset(self, db: Session, dataset: str) -> int | None:
        return _dataset(db, self._tenant, dataset)


def _dataset(db: Session, tenant: str, dataset: str) -> int | None:
    """Return the number of a dataset; None where nothing was ever sent for it."""
    row = db.row(SQL["dataset"], {"tenant": tenant, "dataset": dataset})
    return row[0] if row else None


def _open_dataset(db: Session, tenant: str, dataset: str) -> int:
    number = _dataset(db, tenant, dataset)
    if number is None:
        db.send(SQL["add_dataset"], {"tenant": tenant, "dataset": dataset})
        number = int(db.value(SQL["dataset"], {"tenant": tenant, "dataset": dataset}))
    return number


def _send(db: Session, dataset: int, messages: Sequence[Message]) -> int:
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


def _send_unknown(db: Session, dataset: int, messages: Sequence[Message]) -> int:
    about = columns(list(dict.fromkeys(map(_about, messages))), _ABOUT)
    locked = db.rows(SQL["lock_tasks"], about | {"dataset": dataset})
    known = {(queue, task) for _, queue, task in locked}
    unknown = [one for one in messages if (one.queue, one.task) not in known]
    return _send(db, dataset, unknown) if unknown else 0


def _revive(db: Session, values: Mapping[str, object]) -> bool:
    row = db.row(SQL["task_of"], values)
    if row is None or db.run(SQL["revive"], values) == 0:
        return False
    db.send(SQL["wake"], {"tasks": [row[0]]})
    return True


def _drop(db: Session, values: Mapping[str, object]) -> bool:
    row = db.row(SQL["task_of"], values)
    if row is None or db.run(SQL["drop"], values) == 0:
        return False
    db.send(SQL["forget"], {**values, "task": row[0]})
    return True


def _erase(db: Session, *, tenant: str) -> None:
    for name in ("erase_messages", "erase_tasks", "erase_datasets"):
        db.send(SQL[name], {"tenant": tenant})
