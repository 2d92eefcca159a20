"""Queues of the seed engine: a task is lent to one worker at a time, with what waits for it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace

from geomi.adapters.store.rows import Row, decode, encode, legible, refuse_long
from geomi.adapters.store.session import OwnedTable, Session, Values
from geomi.adapters.store.statements import table_statements
from geomi.errors import StoreError
from geomi.model.dataset.queue import (
    MAX_LENT_BYTES,
    MAX_LENT_MESSAGES,
    MAX_LISTED,
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
from geomi.model.dataset.seed import Partition, PartitionFilter

# Bodies that are sent as one array: PostgreSQL takes 1 GB at once, and both sides hold a copy.
PARCEL_BYTES = 16 * 1024 * 1024
SQL = table_statements("queues")


@dataclass(frozen=True, slots=True)
class DeadLetterCause:
    """Why a message is dead, as it is written down."""

    error_info: ErrorInfo
    context: ErrorContext


@dataclass(frozen=True, slots=True)
class LoanRequest:
    """Who wants to borrow from which queue, and until when."""

    queue: str
    owner: str
    now_s: float
    until_s: float

    def values(self, row: Row) -> Values:
        """Return what is written of a loan of a task, whose row ends with the token of the last."""
        return {
            "task": row[0],
            "token": row[-1] + 1,
            "owner": self.owner,
            "now_s": self.now_s,
            "until_s": self.until_s,
            "many": MAX_LENT_MESSAGES,
        }

    def loan(self, row: Row, messages: Iterable[Row]) -> Loan:
        """Return a loan of a task, whose row ends with the token of the one before."""
        _, task, country, category, date, token = row
        partition = Partition(country, category, date)
        return Loan(
            self.queue,
            task,
            token + 1,
            self.until_s,
            tuple(message_of(self.queue, task, partition, message) for message in messages),
        )


class QueueTable(OwnedTable):
    """`ports.dataset.SeedQueues` of one tenant."""

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
        ready_s = await self._database.read(lambda db: self._next_ready_s(db, dataset, queue))
        if ready_s is None or ready_s > now_s:  # to look costs no lock
            return []
        ask = LoanRequest(queue, owner, now_s, now_s + lease_s)
        return await self._database.write(
            lambda db: _claim(db, self._dataset(db, dataset), ask, tasks)
        )

    async def renew(self, dataset: str, loan: Loan, *, lease_s: float, now_s: float) -> Loan | None:
        """Prolong a loan; None where it was lost."""
        until_s = now_s + lease_s
        is_ours = await self._database.write(
            lambda db: _renew(db, self._dataset(db, dataset), loan, until_s)
        )
        return replace(loan, until_s=until_s) if is_ours else None

    async def settle(self, dataset: str, loan: Loan, settlement: LoanSettlement) -> bool:
        """End messages of a loan in one transaction; False where the loan was lost."""
        return await self._database.write(
            lambda db: _settle(db, self._dataset(db, dataset), loan, settlement)
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
            ((waiting, lent, dead),) = db.rows(SQL["depth"], values)
            return QueueDepth(waiting, lent, dead, db.value(SQL["next_ready"], values))

        return await self._database.read(read)

    async def tally(self, dataset: str, queue: str, which: PartitionFilter) -> TaskTally:
        """Count tasks by state."""
        asked = {column: value for column, value in asdict(which).items() if value is not None}
        statement = SQL["tally"].narrowed(asked)
        (row,) = await self._database.read(
            lambda db: db.rows(
                statement, {"dataset": self._dataset(db, dataset), "queue": queue, **asked}
            )
        )
        return tally_of(row)

    async def dead(self, dataset: str, *, after: str = "", limit: int) -> list[DeadLetter]:
        """List dead letters in the order of their ids, without their bodies."""
        place = {"after": after, "many": listed_letters(limit)}
        rows = await self._database.read(
            lambda db: db.rows(SQL["letters"], {"dataset": self._dataset(db, dataset), **place})
        )
        return [letter_of((*row, b"")) for row in rows]

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
        values = {"letter": letter, "now_s": now_s}
        return await self._database.write(
            lambda db: _revive(db, {"dataset": self._dataset(db, dataset), **values})
        )

    async def drop(self, dataset: str, letter: str, *, forgets: str = "") -> bool:
        """Forget a dead letter; False where it is gone."""
        values = {"letter": letter, "forgets": forgets}
        return await self._database.write(
            lambda db: _drop(db, {"dataset": self._dataset(db, dataset), **values})
        )

    async def erase(self) -> None:
        """Forget every dataset of the tenant."""
        await self._database.write(lambda db: _erase(db, self._tenant))

    def _dataset(self, db: Session, dataset: str) -> int | None:
        return _dataset(db, self._tenant, dataset)

    def _next_ready_s(self, db: Session, dataset: str, queue: str) -> float | None:
        values = {"dataset": self._dataset(db, dataset), "queue": queue}
        ready_s: float | None = db.value(SQL["next_ready"], values)
        return ready_s


def checked_messages(dataset: str, messages: Sequence[Message]) -> list[Message]:
    """Return messages in the order of their tasks, each once; refuse what is too large to wait."""
    refuse_long("dataset", dataset)
    found: dict[tuple[str, str, str], Message] = {}
    for message in messages:
        refuse_long("queue", message.queue)
        refuse_long("task", message.task)
        refuse_long(f"message to `{message.queue}`", message.name)
        if len(message.body) > MAX_MESSAGE_BYTES:
            raise StoreError(
                f"the message `{message.name}` has {len(message.body):,} bytes",
                hint=f"a message may have {MAX_MESSAGE_BYTES:,}; divide the raw file",
            )
        found.setdefault((message.queue, message.task, message.name), message)
    return [found[key] for key in sorted(found)]


def lent_names(sized: Iterable[tuple[str, int]]) -> list[str]:
    """Return the first names, by order, whose bodies are lent together; at least one."""
    names: list[str] = []
    left = MAX_LENT_BYTES
    for name, size in sized:
        left -= size
        if names and left < 0:
            break
        names.append(name)
    return names


def listed_letters(limit: int) -> int:
    """Return how many dead letters are in one answer."""
    return max(0, min(limit, MAX_LISTED))


def letter_values(letter: DeadLetter) -> dict[str, object]:
    """Write that a message is dead, and why."""
    return {
        "name": letter.message.name,
        "attempts": letter.message.attempts,
        "letter": letter.id,
        "error": encode(DeadLetterCause(letter.error_info, letter.context)),
    }


def letter_of(row: Row) -> DeadLetter:
    """Read a dead letter."""
    letter, error, queue, task, country, category, date, *message = row
    with legible("seed_messages", letter):
        cause = decode(DeadLetterCause, error)
    return DeadLetter(
        letter,
        message_of(queue, task, Partition(country, category, date), tuple(message)),
        cause.error_info,
        cause.context,
    )


def message_of(queue: str, task: str, partition: Partition, row: Row) -> Message:
    """Read a message of a task."""
    name, attempts, losses, due_s, body = row
    return Message(queue, name, task, partition, bytes(body), attempts, losses, float(due_s))


def tally_of(row: Row) -> TaskTally:
    """Read what was counted."""
    processed, failed, pending, robots, sitemaps, duration_ms = row
    return TaskTally(processed, failed, pending, robots, sitemaps, float(duration_ms or 0.0))


def end_dead_loans(db: Session, owners: Iterable[str], now_s: float) -> None:
    """End the loans of owners that are dead."""
    db.run_each(SQL["pass"], [{"owner": owner, "now_s": now_s} for owner in owners])


def _dataset(db: Session, tenant: str, dataset: str) -> int | None:
    """Return the number of a dataset; None where nothing was ever sent for it."""
    row = db.row(SQL["dataset"], {"tenant": tenant, "dataset": dataset})
    return row[0] if row else None


def _open_dataset(db: Session, tenant: str, dataset: str) -> int:
    if (number := _dataset(db, tenant, dataset)) is not None:
        return number
    values = {"tenant": tenant, "dataset": dataset}
    db.send(SQL["add_dataset"], values)
    return int(db.value(SQL["dataset"], values))


def _send(db: Session, dataset: int, messages: Sequence[Message]) -> int:
    about = _about(dataset, messages)
    db.send_all(SQL["add_task"], about)
    found = db.rows_of_all(SQL["task"], about)
    tasks = {(queue, task): number for number, queue, task, _ in found}
    awake: list[int] = []
    for parcel in _parcels(messages):
        rows = [
            {
                "task": tasks[one.queue, one.task],
                "dataset": dataset,
                "name": one.name,
                "due_s": float(one.due_s),
                "size": len(one.body),
                "body": one.body,
            }
            for one in parcel
        ]
        new = set(db.rows_of_all(SQL["add"], rows))
        db.send_all(SQL["put_body"], [row for row in rows if (row["task"], row["name"]) in new])
        awake += [task for task, _ in new]
    db.send_all(SQL["wake"], [{"task": task} for task in sorted(set(awake))])
    return len(awake)


def _about(dataset: int, messages: Iterable[Message]) -> list[Values]:
    """Return the tasks of messages, each once, in their order."""
    tasks: dict[tuple[str, str], Partition] = {}
    for one in messages:
        tasks.setdefault((one.queue, one.task), one.partition)
    return [
        {"dataset": dataset, "queue": queue, "task": task, **asdict(partition)}
        for (queue, task), partition in tasks.items()
    ]


def _parcels(messages: Iterable[Message]) -> Iterator[list[Message]]:
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


def _claim(db: Session, dataset: int | None, ask: LoanRequest, tasks: int) -> list[Loan]:
    """Lend up to `tasks` tasks that have a message due, with every message of them that is."""
    due = {"dataset": dataset, "queue": ask.queue, "now_s": ask.now_s, "many": max(0, tasks)}
    rows = db.rows(SQL["due_tasks"], due)
    loans = [ask.values(row) for row in rows]
    for loan in loans:
        db.send(SQL["lose"], loan)
        db.send(SQL["hold"], loan)
    sized: dict[int, list[tuple[str, int]]] = defaultdict(list)
    for task, name, size in db.rows_of_each(SQL["due_messages"], loans):
        sized[task].append((name, size))
    for (task, *_), loan in zip(rows, loans, strict=True):
        if names := lent_names(sized[task]):
            db.send(SQL["lend"], {**loan, "last": names[-1]})
        else:  # by another clock than the one that it was put off by
            db.send(SQL["close"], loan)
    lent: dict[int, list[Row]] = defaultdict(list)
    for task, *message in db.rows_of_each(SQL["lent"], loans):
        lent[task].append(tuple(message))
    return [ask.loan(row, lent[row[0]]) for row in rows if row[0] in lent]


def _held(db: Session, dataset: int | None, loan: Loan) -> Values | None:
    """Return what finds a loan's rows; None where it was lost."""
    asked = {"dataset": dataset, "queue": loan.queue, "task": loan.task}
    for number, _, _, token in db.rows_of_all(SQL["task"], [asked]):
        if token == loan.token:
            return {"task": number, "token": token}
    return None


def _renew(db: Session, dataset: int | None, loan: Loan, until_s: float) -> bool:
    """Prolong a loan; False where it was lost."""
    held = _held(db, dataset, loan)
    return held is not None and db.run(SQL["renew"], {**held, "until_s": until_s}) == 1


def _settle(db: Session, dataset: int | None, loan: Loan, settlement: LoanSettlement) -> bool:
    """End messages of a loan; False where it was lost."""
    held = _held(db, dataset, loan)
    if held is None:
        return False
    db.send_all(SQL["done"], [{**held, "name": name} for name in settlement.done])
    db.send_all(SQL["back"], [{**held, "name": name} for name in settlement.back])
    later = [{**held, "name": name, "due_s": float(due_s)} for name, due_s in settlement.later]
    db.send_all(SQL["later"], later)
    db.run_each(SQL["bury"], [{**held, **letter_values(letter)} for letter in settlement.dead])
    if settlement.worked is not None:
        db.send(SQL["worked"], {**held, **asdict(settlement.worked)})
    db.send(SQL["close"], held)
    return True


def _send_unknown(db: Session, dataset: int, messages: Sequence[Message]) -> int:
    found = db.rows_of_all(SQL["task"], _about(dataset, messages))
    known = {(queue, task) for _, queue, task, _ in found}
    return _send(db, dataset, [one for one in messages if (one.queue, one.task) not in known])


def _revive(db: Session, values: Values) -> bool:
    row = db.row(SQL["task_of"], values)
    if row is None or db.run(SQL["revive"], values) == 0:
        return False
    db.send_all(SQL["wake"], [{"task": row[0]}])
    return True


def _drop(db: Session, values: Values) -> bool:
    row = db.row(SQL["task_of"], values)
    if row is None or db.run(SQL["drop"], values) == 0:
        return False
    db.send(SQL["forget"], {**values, "task": row[0]})
    return True


def _erase(db: Session, tenant: str) -> None:
    for name in ("erase_messages", "erase_tasks", "erase_datasets"):
        db.send(SQL[name], {"tenant": tenant})
