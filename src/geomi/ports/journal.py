"""What became of jobs, and who has yet to be told of it.

`Jobs` writes an event in the transaction that changes a job's state, its pause or its stop, so that
none is missing and none tells of what did not happen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from geomi.model.job import JobEvent
from geomi.model.named_value import NamedValue


class Journal(Protocol):
    """The events of one tenant's jobs; they are forgotten with their job."""

    async def read(self, job: str, *, after: int = 0, limit: int) -> Sequence[JobEvent]:
        """List a job's events after one, in their order.

        There are never more than `MAX_LISTED_EVENTS` at once: what ends a walk is an empty list.
        """
        ...


class Untold(Protocol):
    """The events of the service's jobs that nobody was told of yet, for every tenant."""

    async def untold(self, limit: int) -> Sequence[JobEvent]:
        """List events that nobody was told of, oldest first."""
        ...

    async def tell(self, event: JobEvent, slips: Sequence[NamedValue]) -> bool:
        """Note that an event is told, and put what has to be delivered into drawers, or neither.

        False, and nothing written, where it was told before, or is forgotten. A slip whose name is
        taken stays as it is.
        """
        ...
