"""A namespace of named values of one kind, typed: JSON in the store, values here.

A change names the revision that it read, so that it never overwrites another change; `amend` reads
and tries again. Expired values are deleted, a few whenever a new one is added.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from pydantic import TypeAdapter

from geomi.errors import StoreBusy
from geomi.model.named_value import MAX_LISTED_VALUES, NamedValue
from geomi.ports.named_values import NamedValues
from geomi.service.service import Service

# Whoever loses that often against others is better told than kept.
TRIES = 20
T = TypeVar("T")
EXPIRED_AT_ONCE = 20


@dataclass(frozen=True, slots=True)
class StoredValue(Generic[T]):
    """A value, and the row that it was read from."""

    named: NamedValue
    value: T

    @property
    def name(self) -> str:
        """What it goes by in its namespace."""
        return self.named.name


class ValueNamespace(Generic[T]):
    """One namespace of one tenant, or of the system."""

    def __init__(self, named_values: NamedValues, name: str, kind: type[T]) -> None:
        self.name = name
        self._named_values = named_values
        self._kind: TypeAdapter[T] = TypeAdapter(kind)

    def body(self, value: T) -> bytes:
        """Write a value as a named value holds it."""
        return self._kind.dump_json(value)

    def read(self, named: NamedValue) -> StoredValue[T]:
        """Read a named value of this namespace."""
        return StoredValue(named, self._kind.validate_json(named.body))

    async def add(self, name: str, value: T, *, due_at_s: float | None = None) -> bool:
        """Put something in; False where the name is taken."""
        return await self._named_values.add(self.name, name, self.body(value), due_at_s=due_at_s)

    async def get(self, name: str) -> StoredValue[T] | None:
        """Find something by its name."""
        named = await self._named_values.get(self.name, name)
        return self.read(named) if named else None

    async def list(
        self, *, after: str = "", limit: int = MAX_LISTED_VALUES, is_backwards: bool = False
    ) -> builtins.list[StoredValue[T]]:
        """List things in the order of their names, or backwards."""
        named_values = await self._named_values.list(
            self.name, after=after, limit=limit, is_backwards=is_backwards
        )
        return [self.read(named) for named in named_values]

    async def every(self) -> builtins.list[StoredValue[T]]:
        """List everything; for namespaces that have a limit."""
        found: list[StoredValue[T]] = []
        while more := await self.list(after=found[-1].name if found else ""):
            found += more
        return found

    async def change(
        self, kept: StoredValue[T], value: T, *, due_at_s: float | None = None
    ) -> bool:
        """Write another value in its place; False where somebody else was faster."""
        return await self._named_values.change(
            replace(kept.named, body=self.body(value), due_at_s=due_at_s)
        )

    async def amend(
        self,
        name: str,
        change: Callable[[T], T],
        *,
        due: Callable[[T], float | None] = lambda _: None,
    ) -> T | None:
        """Change what is there, whoever else does; None where there is nothing."""
        for _ in range(TRIES):
            kept = await self.get(name)
            if kept is None:
                return None
            value = change(kept.value)
            if await self.change(kept, value, due_at_s=due(value)):
                return value
        raise StoreBusy(
            f"`{name}` in {self.name} is being changed by another request", hint="try again"
        )

    async def remove(self, name: str) -> T | None:
        """Take something out and return it; None where there is nothing."""
        for _ in range(TRIES):
            kept = await self.get(name)
            if kept is None:
                return None
            if await self._named_values.remove(kept.named):
                return kept.value
        raise StoreBusy(
            f"`{name}` in {self.name} is being changed by another request", hint="try again"
        )

    async def count(self) -> int:
        """Return how many things there are."""
        return await self._named_values.count(self.name)


async def delete_expired_values(service: Service, namespace: str) -> None:
    """Forget some values whose time is over, whosever they are."""
    wall_s = service.office.wall_s
    for named in await service.home.store.due_values.due(
        namespace, wall_s=wall_s, limit=EXPIRED_AT_ONCE
    ):
        await service.desk(named.tenant).named_values.remove(named)
