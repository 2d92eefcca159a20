"""Named values: small values of one tenant or of the system, some with a time when they are due."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from geomi.model.named_value import NamedValue


class NamedValues(Protocol):
    """The namespaces of one tenant."""

    async def add(
        self, namespace: str, name: str, body: bytes, *, due_at_s: float | None = None
    ) -> bool:
        """Put something into a namespace; False, and nothing written, where the name is taken."""
        ...

    async def change(self, named: NamedValue) -> bool:
        """Write body and due time of a value that is still at this revision, which then grows.

        False, and nothing written, if it was changed or removed before.
        """
        ...

    async def get(self, namespace: str, name: str) -> NamedValue | None:
        """Find something by its name."""
        ...

    async def list(
        self, namespace: str, *, after: str = "", limit: int, is_backwards: bool = False
    ) -> Sequence[NamedValue]:
        """List a namespace in the order of names, for paging: after a name, or backwards before it.

        There are never more than `MAX_LISTED_VALUES` at once: what ends a walk is an empty list.
        """
        ...

    async def remove(self, named: NamedValue) -> bool:
        """Remove a named value that is still at this revision; False where it is not."""
        ...

    async def count(self, namespace: str) -> int:
        """Return how many values are in a namespace."""
        ...


class DueValues(Protocol):
    """Named values that are due, of every tenant."""

    async def due(self, namespace: str, *, wall_s: float, limit: int) -> Sequence[NamedValue]:
        """List what is due in the namespaces of this name, longest due first."""
        ...
