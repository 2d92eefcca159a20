"""Queues of the seed engine: a task is lent to one worker at a time, with what waits for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial

from geomi.adapters.store.rows import Row
from geomi.adapters.store.sqlite.connection import SqliteDatabase, SqliteSession
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

SQL = statements("store.sqlite", "queues")


class SqliteQueues:
    """`ports.queues.Queues` of one tenant."""

    def __init__(self, database: SqliteDatabase, tenant: str) -> None:
        self._database = database
        self._tenant = tenant

    async def send(self, dataset: str, messages: Sequence[Message]) -> int:
        """Let messages wait, in one transaction; return how many of them did not wait before."""
        checked = checked_messages(dataset, messages)
        return await self._database.write(
            lambda db: _send(db, _open_dataset(db, self._tenant, dataset), checked)
        )

    async def claim(
        self, dataset: str, queue: str, *, owner: str, tasks: int, lease_s: float, now_s: float
    ) -> list[Loan]:
        """Lend up to `tasks` tasks that have a message due, with every message of them that is."""
        ready_s = self._next_ready_s(dataset, queue)
        if ready_s is None or ready_s > now_s:  # to look costs no lock
            return []
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
        return await self._database.write(
            lambda db: _send_unknown(db, _open_dataset(db, self._tenant, dataset), checked)
        )

    async def depth(self, dataset: str, queue: str, *, now_s: float) -> QueueDepth:
        """Say how full a queue is."""
        with self._database.reading() as db:
            values = {"dataset": self._dataset(db, dataset), "queue": queue, "now_s": now_s}
            waiting, lent, dead = db.execute(SQL["depth"], values).fetchone()
        return QueueDepth(waiting, lent, dead, self._next_ready_s(dataset, queue))

    async def tally(self, dataset: str, queue: str, which: PartitionFilter) -> TaskTally:
        """Count tasks by state."""
        with self._database.reading() as db:
            values = {"dataset": self._dataset(db, dataset), "queue": queue} | asdict(which)
            return tally_of(db.execute(SQL["tally"], values).fetchone())

    async def dead(self, dataset: str, *, after: str = "", limit: int) -> list[DeadLetter]:
        """List dead letters in the order of their ids, without their bodies."""
        with self._database.reading() as db:
            values = {"dataset": self._dataset(db, dataset), "after": after}
            rows = db.execute(SQL["letters"], values | {"many": listed_letters(limit)})
            return [letter_of(row) for row in rows]

    async def letter(self, dataset: str, letter: str) -> DeadLetter | None:
        """Find a dead letter, with its body."""
        with self._database.reading() as db:
            values = {"dataset": self._dataset(db, dataset), "letter": letter}
            row = db.execute(SQL["letter"], values).fetchone()
        return letter_of(row) if row else None

    async def revive(self, dataset: str, letter: str, *, now_s: float) -> bool:
        """Let a dead letter wait again, from the beginning; False where it is gone."""
        values = {"letter": letter, "now_s": now_s}
        return await self._database.write(
            lambda db: _revive(db, values | {"dataset": self._dataset(db, dataset)})
        )

    async def drop(self, dataset: str, letter: str, *, forgets: str = "") -> bool:
        """Forget a dead letter; False where it is gone."""
        values = {"letter": letter, "forgets": forgets}
        return await self._database.write(
            lambda db: _drop(db, values | {"dataset": self._dataset(db, dataset)})
        )

    async def erase(self) -> None:
        """Forget every dataset of the tenant."""
        await self._database.write(partial(_erase, tenant=self._tenant))

    def _dataset(self, db: SqliteSession, dataset: str) -> int | None:
        return _dataset(db, self._tenant, dataset)

    def _next_ready_s(self, dataset: str, queue: str) -> float | None:
        with self._database.reading() as db:
            values = {"dataset": self._dataset(db, dataset), "queue": queue}
            ready_s: float | None = db.execute(SQL["next_ready"], values).fetchone()[0]
        return ready_s


def _dataset(db: SqliteSession, tenant: str, dataset: str) -> int | None:
    """Return the number of a dataset; None where nothing was ever sent for it."""
    row = db.execute(SQL["dataset"], {"tenant": tenant, "dataset": dataset}).fetchone()
    return row[0] if row else None


def _open_dataset(db: SqliteSession, tenant: str, dataset: str) -> int:
    if (number := _dataset(db, tenant, dataset)) is not None:
        return number
    row = db.execute(SQL["add_dataset"], {"tenant": tenant, "dataset": dataset}).fetchone()
    return int(row[0])


def _send(db: SqliteSession, dataset: int, messages: Sequence[Message]) -> int:
    new, awake = 0, set[int]()
    for message in messages:
        about = _about(dataset, message)
        db.execute(SQL["add_task"], about)
        task, _ = db.execute(SQL["task"], about).fetchone()
        values = {"task": task, "dataset": dataset, "name": message.name}
        values |= {"due_s": message.due_s, "size": len(message.body)}
        for (number,) in db.execute(SQL["add"], values).fetchall():
            db.execute(SQL["put_body"], {"message": number, "body": message.body})
            new += 1
            awake.add(task)
    db.executemany(SQL["wake"], [{"task": task} for task in sorted(awake)])
    return new


def _about(dataset: int, message: Message) -> dict[str, object]:
    return {"dataset": dataset, "queue": message.queue, "task": message.task} | asdict(
        message.partition
    )


def _send_unknown(db: SqliteSession, dataset: int, messages: Sequence[Message]) -> int:
    tasks = ((one, db.execute(SQL["task"], _about(dataset, one)).fetchone()) for one in messages)
    return _send(db, dataset, [one for one, task in tasks if task is None])


def _revive(db: SqliteSession, values: Mapping[str, object]) -> bool:
    row = db.execute(SQL["revive"], values).fetchone()
    if row is None:
        return False
    db.execute(SQL["wake"], {"task": row[0]})
    return True


def _drop(db: SqliteSession, values: Mapping[str, object]) -> bool:
    row = db.execute(SQL["drop"], values).fetchone()
    if row is None:
        return False
    db.execute(SQL["forget"], {**values, "task": row[0]})
    return True


def _erase(db: SqliteSession, *, tenant: str) -> None:
    for name in ("erase_messages", "erase_tasks", "erase_datasets"):
        db.execute(SQL[name], {"tenant": tenant})


def claim(db: SqliteSession, dataset: int | None, ask: LoanRequest, tasks: int) -> list[Loan]:
    """Lend up to `tasks` tasks that have a message due, with every message of them that is."""
    values = {"dataset": dataset, "queue": ask.queue, "now_s": ask.now_s, "many": max(0, tasks)}
    rows = db.execute(SQL["due_tasks"], values).fetchall()
    return [loan for row in rows if (loan := _lend(db, ask, row)) is not None]


def _lend(db: SqliteSession, ask: LoanRequest, row: Row) -> Loan | None:
    task, token = row[0], row[-1] + 1
    due = {"task": task, "now_s": ask.now_s}
    loan = {"task": task, "token": token, "owner": ask.owner, "until_s": ask.until_s}
    db.execute(SQL["lose"], due)
    db.execute(SQL["hold"], loan)
    found = db.execute(SQL["due_messages"], due | {"many": MAX_LENT_MESSAGES}).fetchall()
    if not (names := lent_names(found)):  # by another clock than the one that it was put off by
        db.execute(SQL["close"], loan)
        return None
    db.execute(SQL["lend"], due | {"token": token, "last": names[-1]})
    return ask.loan(row, db.execute(SQL["lent"], loan))


def _held(db: SqliteSession, dataset: int | None, loan: Loan) -> dict[str, object] | None:
    """Return what finds a loan's rows; None where it was lost."""
    values = {"dataset": dataset, "queue": loan.queue, "task": loan.task}
    row = db.execute(SQL["task"], values).fetchone()
    if row is None or row[1] != loan.token:
        return None
    return {"task": row[0], "token": loan.token}


def renew(db: SqliteSession, dataset: int | None, loan: Loan, until_s: float) -> bool:
    """Prolong a loan; False where it was lost."""
    held = _held(db, dataset, loan)
    if held is None:
        return False
    return db.execute(SQL["renew"], held | {"until_s": until_s}).rowcount == 1


def end_dead(db: SqliteSession, owners: Sequence[str], now_s: float) -> None:
    """End the loans of owners that are dead."""
    db.executemany(SQL["pass"], [{"owner": owner, "now_s": now_s} for owner in owners])


def settle(db: SqliteSession, dataset: int | None, loan: Loan, settlement: LoanSettlement) -> bool:
    """End messages of a loan; False where it was lost."""
    held = _held(db, dataset, loan)
    if held is None:
        return False
    db.executemany(SQL["done"], [held | {"name": name} for name in settlement.done])
    db.executemany(SQL["back"], [held | {"name": name} for name in settlement.back])
    db.executemany(
        SQL["later"],
        [held | {"name": name, "due_s": due_s} for name, due_s in settlement.later],
    )
    db.executemany(SQL["bury"], [held | letter_values(letter) for letter in settlement.dead])
    if settlement.worked is not None:
        db.execute(SQL["worked"], held | asdict(settlement.worked))
    db.execute(SQL["close"], held)
    return True
