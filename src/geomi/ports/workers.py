"""The workers of a store, and the work that only one of them may do at a time.

A worker registers, sends heartbeats while it lives and signs off when it ends. A worker that is
silent for longer than its card allows counts as dead, and other processes end its leases. A duty
is a lease with a name: its holder renews it with `take`, and when it expires, another may take it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from geomi.model.worker import WorkerCard


class Workers(Protocol):
    """The workers of a store, for every tenant."""

    async def enrol(self, card: WorkerCard) -> None:
        """Keep a worker's card, in place of an older one of the same name."""
        ...

    async def beat(
        self, owner: str, *, jobs: Sequence[str], pages: int, pages_per_s: float, now_s: float
    ) -> bool:
        """Note that a worker lives and how far it has come; False when it was struck off."""
        ...

    async def leave(self, owners: Sequence[str]) -> None:
        """Strike workers off, and with them the duties and shares that they held."""
        ...

    async def list(self) -> list[WorkerCard]:
        """List every card with the hosts that its worker has not given back, oldest first."""
        ...

    async def take(self, duty: str, *, owner: str, until_s: float, now_s: float) -> str:
        """Take or keep a duty that no other process holds now; return its holder."""
        ...

    async def drop(self, duty: str, *, owner: str) -> None:
        """Give a duty back, if it is still ours."""
        ...
