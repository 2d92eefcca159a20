"""The ledger of what models were paid for one tenant."""

from __future__ import annotations

import builtins
from collections.abc import Iterator, Sequence

from geomi.adapters.store.tables.costs import added, key_of, summed
from geomi.model.index.language_model import CostLine
from tests.contracts.reference.world import World


class MemoryCosts:
    """`ports.pages.Costs` of one tenant."""

    def __init__(self, world: World, tenant: str) -> None:
        self._world = world
        self._tenant = tenant

    async def add(self, lines: Sequence[CostLine]) -> None:
        """Add to what is written down for the same keys."""
        costs = self._world.costs
        for line in summed(lines):
            key = (self._tenant, key_of(line))
            costs[key] = added(costs[key], line) if key in costs else line

    async def list(self, job: str = "") -> builtins.list[CostLine]:
        """List the lines of a job, or of all jobs."""
        return sorted((line for line in self._own() if job in ("", line.job)), key=_order)

    async def spent(self, job: str) -> int:
        """Return what a job has cost so far."""
        return sum(line.micros for line in self._own() if line.job == job)

    def _own(self) -> Iterator[CostLine]:
        rows = self._world.costs.items()
        return (line for (tenant, _), line in rows if tenant == self._tenant)


def _order(line: CostLine) -> tuple[str, ...]:
    return (line.day, line.job, line.purpose.value, line.model, line.provider)
