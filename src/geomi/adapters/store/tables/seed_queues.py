"""What all stores agree on about seed queues: what a message may be, how much is lent, what
counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from geomi.adapters.store.codec import decode, encode
from geomi.adapters.store.keys import refuse_long
from geomi.adapters.store.rows import Row, legible
from geomi.errors import StoreError
from geomi.model.dataset.queue import (
    MAX_LENT_BYTES,
    MAX_LISTED,
    MAX_MESSAGE_BYTES,
    DeadLetter,
    ErrorContext,
    ErrorInfo,
    Loan,
    Message,
    TaskTally,
)
from geomi.model.dataset.seed import Partition


@dataclass(frozen=True, slots=True)
class DeadLetterCause:
    """Why a message is dead, as it is written down."""

    error_info: ErrorInfo
    context: ErrorContext


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


@dataclass(frozen=True, slots=True)
class LoanRequest:
    """Who wants to borrow from which queue, and until when."""

    queue: str
    owner: str
    now_s: float
    until_s: float

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
