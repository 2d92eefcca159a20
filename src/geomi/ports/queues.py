"""Queues of the seed engine: what waits to be done, who does it, and what nobody tries any more.

The protocol is the frontier's: `claim` lends tasks that are due, `renew` keeps them, `settle` ends
messages against a fencing token, and a loan that nobody renews comes due by itself. `now_s` is
always an argument.
"""

from __future__ import annotations

from collections.abc import Sequence
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


class Queues(Protocol):
    """The queues of one tenant, of each of its datasets."""

    async def send(self, dataset: str, messages: Sequence[Message]) -> int:
        """Let messages wait, in one transaction; return how many of them did not wait before.

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
        """Let messages wait whose tasks nobody knows of; return how many. Others are left alone."""
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
