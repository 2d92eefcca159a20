"""Small things kept by name, and those that are due."""

from __future__ import annotations

import builtins
from dataclasses import replace

from geomi.adapters.store.tables.named_values import check_named_value, values_listed
from geomi.model.named_value import NamedValue
from tests.contracts.reference.world import World


class MemoryDrawers:
    """`ports.drawers.Drawers` of one tenant."""

    def __init__(self, world: World, tenant: str) -> None:
        self._slips = world.slips
        self._tenant = tenant

    async def add(
        self, drawer: str, name: str, body: bytes, *, due_at_s: float | None = None
    ) -> bool:
        """Put something into a drawer; False where the name is taken."""
        slip = NamedValue(self._tenant, drawer, name, body, due_at_s=due_at_s)
        check_named_value(slip)
        return self._slips.setdefault((self._tenant, drawer, name), slip) is slip

    async def change(self, slip: NamedValue) -> bool:
        """Write body and due time of a slip that is still at this revision."""
        check_named_value(slip)
        if not self._is_current(slip):
            return False
        key = (self._tenant, slip.drawer, slip.name)
        self._slips[key] = replace(slip, tenant=self._tenant, revision=slip.revision + 1)
        return True

    async def get(self, drawer: str, name: str) -> NamedValue | None:
        """Find something by its name."""
        return self._slips.get((self._tenant, drawer, name))

    async def list(
        self, drawer: str, *, after: str = "", limit: int, is_backwards: bool = False
    ) -> builtins.list[NamedValue]:
        """List a drawer in the order of names, or backwards."""
        names = sorted(self._names(drawer), reverse=is_backwards)
        if is_backwards:
            names = [name for name in names if not after or name < after]
        else:
            names = [name for name in names if name > after]
        return [self._slips[self._tenant, drawer, name] for name in names[: values_listed(limit)]]

    async def remove(self, slip: NamedValue) -> bool:
        """Remove a slip that is still at this revision."""
        if not self._is_current(slip):
            return False
        del self._slips[self._tenant, slip.drawer, slip.name]
        return True

    async def count(self, drawer: str) -> int:
        """Return how many things are in a drawer."""
        return len(self._names(drawer))

    def _names(self, drawer: str) -> builtins.list[str]:
        wanted = (self._tenant, drawer)
        return [name for tenant, its, name in self._slips if (tenant, its) == wanted]

    def _is_current(self, slip: NamedValue) -> bool:
        found = self._slips.get((self._tenant, slip.drawer, slip.name))
        return found is not None and found.revision == slip.revision


class MemoryDueSlips:
    """`ports.drawers.DueSlips`."""

    def __init__(self, world: World) -> None:
        self._slips = world.slips

    async def due(self, drawer: str, *, wall_s: float, limit: int) -> list[NamedValue]:
        """List what is due in the drawers of this name, longest due first."""
        dated = [(due_at_s, slip) for due_at_s, slip in self._dated(drawer) if due_at_s <= wall_s]
        dated.sort(key=lambda one: (one[0], one[1].tenant, one[1].name))
        return [slip for _, slip in dated[: values_listed(limit)]]

    async def next_due_s(self, drawer: str) -> float | None:
        """Return when the first of them is due."""
        return min((due_at_s for due_at_s, _ in self._dated(drawer)), default=None)

    def _dated(self, drawer: str) -> list[tuple[float, NamedValue]]:
        own = (slip for slip in self._slips.values() if slip.drawer == drawer)
        return [(slip.due_at_s, slip) for slip in own if slip.due_at_s is not None]
