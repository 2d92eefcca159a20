"""The workers of a memory store, and their duties."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from dataclasses import replace

from geomi.model.worker import FORGET_S, Suspect, WorkerCard, WorkInHand, WorkKind
from tests.contracts.reference.world import World


class MemoryWorkers:
    """`ports.workers.Workers` of a store."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def enrol(self, card: WorkerCard) -> None:
        """Keep a worker's card, in place of an older one of the same name."""
        self._world.workers[card.owner] = card

    async def beat(
        self, owner: str, *, jobs: Sequence[str], pages: int, pages_per_s: float, now_s: float
    ) -> bool:
        """Note that a worker lives and how far it has come; False when it was struck off."""
        card = self._world.workers.get(owner)
        if card is not None:
            self._world.workers[owner] = replace(
                card, jobs=tuple(jobs), pages=pages, pages_per_s=pages_per_s, beat_s=now_s
            )
        return card is not None

    async def leave(self, owners: Sequence[str]) -> None:
        """Strike workers off, and with them the duties and shares that they held."""
        for owner in owners:
            self._world.workers.pop(owner, None)
        held = [duty for duty, (owner, _) in self._world.duties.items() if owner in owners]
        for duty in held:
            del self._world.duties[duty]
        for book in self._world.books.values():
            for key, (after, owner, _) in book.shares.items():
                if owner in owners:
                    book.shares[key] = (after, owner, 0.0)

    async def list(self) -> builtins.list[WorkerCard]:
        """List every card with the hosts that its worker has not given back, oldest first."""
        cards = [
            replace(card, hosts=sum(row.owner == card.owner for row in self._world.hosts.values()))
            for card in self._world.workers.values()
        ]
        return sorted(cards, key=lambda card: (card.started_s, card.owner))

    async def take(self, duty: str, *, owner: str, until_s: float, now_s: float) -> str:
        """Take or keep a duty that nobody else holds now; return who holds it then."""
        holder, held_until_s = self._world.duties.get(duty, (owner, now_s))
        if holder != owner and held_until_s > now_s:
            return holder
        self._world.duties[duty] = (owner, until_s)
        return owner

    async def drop(self, duty: str, *, owner: str) -> None:
        """Give a duty back, if it is still ours."""
        if self._world.duties.get(duty, ("", 0.0))[0] == owner:
            del self._world.duties[duty]


class MemorySuspects:
    """`ports.workers.Suspects` of one tenant."""

    def __init__(self, world: World, tenant: str) -> None:
        self._world = world
        self._tenant = tenant

    async def note(self, work: WorkInHand, *, owner: str, wall_s: float) -> Suspect:
        """Count the death of a process that had something in hand; each counts once."""
        await self.forget(wall_s=wall_s)
        key = (self._tenant, work.kind, work.name)
        known = self._world.suspects.get(key)
        if known is None or known.owner != owner:
            deaths = 1 + (known.deaths if known else 0)
            known = Suspect(work.kind, work.name, work.label, deaths, owner, wall_s)
        self._world.suspects[key] = known
        return known

    async def find(self, kind: WorkKind, name: bytes) -> Suspect | None:
        """Find what processes have died of."""
        return self._world.suspects.get((self._tenant, kind, name))

    async def list(self, kind: WorkKind, *, limit: int) -> builtins.list[Suspect]:
        """List what processes have died of, by name."""
        own = [
            one
            for (tenant, its_kind, _), one in sorted(self._world.suspects.items())
            if (tenant, its_kind) == (self._tenant, kind)
        ]
        return own[:limit]

    async def clear(self, kind: WorkKind, name: bytes) -> None:
        """Forget the deaths of something that was read since."""
        self._world.suspects.pop((self._tenant, kind, name), None)

    async def forget(self, *, wall_s: float) -> None:
        """Forget what was noted long ago, of every tenant."""
        kept = self._world.suspects
        for key in [key for key, one in kept.items() if one.noted_s < wall_s - FORGET_S]:
            del kept[key]
