"""Messages that wait in a queue, and the tasks that they are about.

A task is lent to one worker at a time, together with all messages that wait for it. It stays when
its messages are done, because the tallies are counted from tasks.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from geomi.model.dataset.seed import ErrorType, Partition

MAX_MESSAGE_BYTES = 128 * 1024 * 1024  # a raw file that names one domain alone, written as JSON
MAX_LENT_MESSAGES = 100  # of one task at once; the others come with the next loan
MAX_LENT_BYTES = 64 * 1024 * 1024  # of one task at once, unless the first message alone has more
MAX_LISTED = 1000  # dead letters in one answer
MAX_ERROR_CHARS = 500


class TaskState(StrEnum):
    """What became of a task."""

    PENDING = "pending"  # a message waits for it
    PROCESSED = "processed"
    FAILED = "failed"  # no message waits, and one of them is dead
    DROPPED = "dropped"  # it failed, and was dropped with its last dead letter


COUNTED = (TaskState.PENDING, TaskState.PROCESSED, TaskState.FAILED)


@dataclass(frozen=True, slots=True)
class Message:
    """A piece of work that waits in a queue.

    Args:
        name: names it in its queue: what is sent twice is there once.
        task: what it is about; messages of one task are lent together, to one worker at a time.
        body: JSON, for whoever works on it.
        attempts: deliveries that failed.
        losses: workers that were lost while they had it in hand.
        due_s: before when it is not lent (scheduling time).
    """

    queue: str
    name: str
    task: str
    partition: Partition
    body: bytes
    attempts: int = 0
    losses: int = 0
    due_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Loan:
    """A task that one worker works on, with the messages that waited for it, in order of names.

    Args:
        token: fences it: what comes back under an old one is not written.
        until_s: when it passes, unless it is renewed (scheduling time).
    """

    queue: str
    task: str
    token: int
    until_s: float
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class TaskResult:
    """What a task has come to, for the tallies; None where this is not known of such a task."""

    urls: int = 0
    robots: bool | None = None
    sitemap: bool | None = None
    duration_ms: int = 0


@dataclass(frozen=True, slots=True)
class ErrorInfo:
    """Why a message is dead, in the names of SED-43; `failed_at` is ISO 8601."""

    error_type: ErrorType
    error_message: str
    retry_count: int
    failed_at: str


@dataclass(frozen=True, slots=True)
class ErrorContext:
    """Where that happened."""

    queue_name: str
    worker_version: str
    processing_duration_ms: int


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A message that failed for good.

    Args:
        id: names it among the dead letters of a dataset.
    """

    id: str
    message: Message
    error_info: ErrorInfo
    context: ErrorContext


@dataclass(frozen=True, slots=True)
class LoanSettlement:
    """The results of a loan's messages; messages that are not named stay lent.

    Args:
        done: names of messages that are finished.
        later: names of messages that are tried again, and from when (scheduling time).
        back: names of messages that nobody has tried: they wait as before, without a failure.
        dead: messages that are not tried again.
    """

    done: tuple[str, ...] = ()
    later: tuple[tuple[str, float], ...] = ()
    back: tuple[str, ...] = ()
    dead: tuple[DeadLetter, ...] = ()
    worked: TaskResult | None = None


@dataclass(frozen=True, slots=True)
class QueueDepth:
    """How full a queue is.

    Args:
        waiting: messages of tasks that no worker has borrowed, due or not.
        lent: messages of tasks that a worker has borrowed.
        dead: messages that failed for good.
        next_s: when the first task can be lent, also one that somebody works on and does not renew;
            None where nothing is left to do.
    """

    waiting: int = 0
    lent: int = 0
    dead: int = 0
    next_s: float | None = None


@dataclass(frozen=True, slots=True)
class TaskTally:
    """Tasks of one queue by state, and sums of their results.

    Args:
        robots, sitemaps: tasks for which one was found.
        duration_ms: mean of those that are processed; 0 where none is.
    """

    processed: int = 0
    failed: int = 0
    pending: int = 0
    robots: int = 0
    sitemaps: int = 0
    duration_ms: float = 0.0

    @property
    def total(self) -> int:
        """All of them (RPT-05)."""
        return self.processed + self.failed + self.pending
