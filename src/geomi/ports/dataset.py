"""A dataset of the seed engine: its files by their keys, and its queues.

A queue follows the protocol of the frontier. `claim` lends tasks that are due, `renew` keeps them,
and `settle` ends messages against a fencing token. A loan that nobody renews expires by itself.
`now_s` is always an argument.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from geomi.model.dataset.queue import (
    DeadLetter,
    Loan,
    LoanSettlement,
    Message,
    QueueDepth,
    TaskTally,
)
from geomi.model.dataset.seed import PartitionFilter


@dataclass(frozen=True, slots=True)
class DatasetFile:
    """A file of a dataset."""

    key: str
    size: int


class Dataset(Protocol):
    """The files of one dataset.

    Keys are relative to its root, with `/` between their parts; one that would lead out of it is
    refused, and so is whatever would be written below `raw/` but checkpoints (SED-03). What is
    written is there as a whole, and safe, or not at all.
    """

    @property
    def name(self) -> str:
        """What the dataset is known by, in messages and in a database: its URL, no credential."""
        ...

    def list(self, prefix: str) -> AsyncIterator[DatasetFile]:
        """Name the files whose keys begin with a prefix.

        Those of one folder are in the order of their names; in which order folders come, and what
        lies beside them, is the server's affair.
        """
        ...

    async def size(self, key: str) -> int | None:
        """Return how many bytes a file has; None where it is not there."""
        ...

    async def read(self, key: str, *, max_bytes: int) -> bytes | None:
        """Return a file; None if it is missing.

        One that is larger is refused before a byte of it is read: `SeedError`, validation_error.
        """
        ...

    async def add(self, key: str, data: bytes) -> bool:
        """Write a file that is not there yet; False, and nothing written, where it is."""
        ...

    async def put(self, key: str, data: bytes) -> None:
        """Write a file in place of the one before."""
        ...

    async def remove(self, key: str) -> None:
        """Remove a file; a missing one is not an error."""
        ...


class SeedQueues(Protocol):
    """The queues of one tenant, of each of its datasets."""

    async def send(self, dataset: str, messages: Sequence[Message]) -> int:
        """Queue messages, in one transaction; return how many of them did not wait before.

        One that waits already stays as it is; one that is dead waits again, from the beginning. A
        name belongs to one task.
        """
        ...

    async def claim(
        self,
        dataset: str,
        queue: str,
        *,
        owner: str,
        tasks: int,
        lease_s: float,
        now_s: float,
    ) -> Sequence[Loan]:
        """Lend up to `tasks` tasks that have a message due, with every message of them that is.

        Longest due first; of one task never more than `MAX_LENT_MESSAGES`, nor than
        `MAX_LENT_BYTES`. A task that is lent is lent to nobody else until its time is over; then
        its messages have one loss more.
        """
        ...

    async def renew(self, dataset: str, loan: Loan, *, lease_s: float, now_s: float) -> Loan | None:
        """Prolong a loan; None where it was lost."""
        ...

    async def settle(self, dataset: str, loan: Loan, settlement: LoanSettlement) -> bool:
        """End messages of a loan in one transaction: done, tried again later, or dead.

        When none of its messages is left, the task is given back. False, and nothing written, where
        the loan was lost; what is settled twice is settled once.
        """
        ...

    async def send_unknown(self, dataset: str, messages: Sequence[Message]) -> int:
        """Queue messages of unknown tasks; return how many. Messages of known tasks are ignored."""
        ...

    async def depth(self, dataset: str, queue: str, *, now_s: float) -> QueueDepth:
        """Say how full a queue is."""
        ...

    async def tally(self, dataset: str, queue: str, which: PartitionFilter) -> TaskTally:
        """Count tasks by state."""
        ...

    async def dead(self, dataset: str, *, after: str = "", limit: int) -> Sequence[DeadLetter]:
        """List dead letters in the order of their ids, for paging, without their bodies."""
        ...

    async def letter(self, dataset: str, letter: str) -> DeadLetter | None:
        """Find a dead letter, with its body."""
        ...

    async def revive(self, dataset: str, letter: str, *, now_s: float) -> bool:
        """Let a dead letter wait again, from the beginning; False where it is gone."""
        ...

    async def drop(self, dataset: str, letter: str, *, forgets: str = "") -> bool:
        """Forget a dead letter; its task stays failed. False where it is gone.

        Args:
            forgets: the queue whose failed tasks are not counted any more without a letter.
        """
        ...

    async def erase(self) -> None:
        """Forget every dataset of the tenant: its tasks, messages and dead letters."""
        ...
