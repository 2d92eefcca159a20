"""The workers of a store, and the work that only one of them may do at a time.

A worker registers, sends heartbeats while it lives and signs off when it ends. A worker that is
silent for longer than its card allows counts as dead, and other processes end its leases. A duty
is a lease with a name: its holder renews it with `take`, and when it expires, another may take it.
`Suspects` counts how many processes died while they had one and the same thing in hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from geomi.model.worker import Suspect, WorkerCard, WorkInHand, WorkKind


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


class Suspects(Protocol):
    """What of one tenant was in hand when processes died."""

    async def note(self, work: WorkInHand, *, owner: str, wall_s: float) -> Suspect:
        """Count the death of a process; told of twice in a row, that of one owner counts once."""
        ...

    async def find(self, kind: WorkKind, name: bytes) -> Suspect | None:
        """Find what processes have died of."""
        ...

    async def list(self, kind: WorkKind, *, limit: int) -> list[Suspect]:
        """List what processes have died of, by name."""
        ...

    async def clear(self, kind: WorkKind, name: bytes) -> None:
        """Forget the deaths of something that was read since."""
        ...

    async def forget(self, *, wall_s: float) -> None:
        """Forget old notes of every tenant."""
        ...
