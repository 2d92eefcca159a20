"""Which domains are visited most, for every tenant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tests.contracts.reference.world import World


class MemoryRanks:
    """`ports.sites.Ranks`."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def put(self, ranks: Sequence[tuple[str, int]], *, edition: int) -> None:
        """Keep a part of a list."""
        for name, rank in ranks:
            known, known_edition = self._world.ranks.get(name, (rank, edition))
            best = min(known, rank) if known_edition == edition else rank
            self._world.ranks[name] = (best, edition)

    async def keep_only(self, edition: int) -> None:
        """Forget every list but one."""
        ranks = self._world.ranks
        self._world.ranks = {name: one for name, one in ranks.items() if one[1] == edition}

    async def find(self, names: Sequence[str]) -> Mapping[str, int]:
        """Return the ranks of those names that have one."""
        ranks = self._world.ranks
        return {name: ranks[name][0] for name in names if name in ranks}

    async def count(self) -> int:
        """Return how many names have a rank."""
        return len(self._world.ranks)
