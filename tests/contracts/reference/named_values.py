"""Small things kept by name, and those that are due."""

from __future__ import annotations

import builtins
from dataclasses import replace

from geomi.adapters.store.tables.named_values import check_named_value, values_listed
from geomi.model.named_value import NamedValue
from tests.contracts.reference.world import World


class MemoryNamedValues:
    """`ports.named_values.NamedValues` of one tenant."""

    def __init__(self, world: World, tenant: str) -> None:
        self._named_values = world.named_values
        self._tenant = tenant

    async def add(
        self, namespace: str, name: str, body: bytes, *, due_at_s: float | None = None
    ) -> bool:
        """Put something into a namespace; False where the name is taken."""
        named = NamedValue(self._tenant, namespace, name, body, due_at_s=due_at_s)
        check_named_value(named)
        return self._named_values.setdefault((self._tenant, namespace, name), named) is named

    async def change(self, named: NamedValue) -> bool:
        """Write body and due time of a named value that is still at this revision."""
        check_named_value(named)
        if not self._is_current(named):
            return False
        key = (self._tenant, named.namespace, named.name)
        self._named_values[key] = replace(named, tenant=self._tenant, revision=named.revision + 1)
        return True

    async def get(self, namespace: str, name: str) -> NamedValue | None:
        """Find something by its name."""
        return self._named_values.get((self._tenant, namespace, name))

    async def list(
        self, namespace: str, *, after: str = "", limit: int, is_backwards: bool = False
    ) -> builtins.list[NamedValue]:
        """List a namespace in the order of names, or backwards."""
        names = sorted(self._names(namespace), reverse=is_backwards)
        if is_backwards:
            names = [name for name in names if not after or name < after]
        else:
            names = [name for name in names if name > after]
        return [
            self._named_values[self._tenant, namespace, name]
            for name in names[: values_listed(limit)]
        ]

    async def remove(self, named: NamedValue) -> bool:
        """Remove a named value that is still at this revision."""
        if not self._is_current(named):
            return False
        del self._named_values[self._tenant, named.namespace, named.name]
        return True

    async def count(self, namespace: str) -> int:
        """Return how many values are in a namespace."""
        return len(self._names(namespace))

    def _names(self, namespace: str) -> builtins.list[str]:
        wanted = (self._tenant, namespace)
        return [name for tenant, its, name in self._named_values if (tenant, its) == wanted]

    def _is_current(self, named: NamedValue) -> bool:
        found = self._named_values.get((self._tenant, named.namespace, named.name))
        return found is not None and found.revision == named.revision


class MemoryDueValues:
    """`ports.named_values.DueValues`."""

    def __init__(self, world: World) -> None:
        self._named_values = world.named_values

    async def due(self, namespace: str, *, wall_s: float, limit: int) -> list[NamedValue]:
        """List what is due in the namespaces of this name, longest due first."""
        own = (named for named in self._named_values.values() if named.namespace == namespace)
        dated = [
            (named.due_at_s, named.tenant, named.name, named)
            for named in own
            if named.due_at_s is not None and named.due_at_s <= wall_s
        ]
        dated.sort(key=lambda one: one[:3])
        return [named for *_, named in dated[: values_listed(limit)]]
