"""Small things kept by name, and those that are due."""

from __future__ import annotations

import builtins

from geomi.adapters.store.postgres.connection import PostgresDatabase
from geomi.adapters.store.statements import statements
from geomi.adapters.store.tables.named_values import (
    check_named_value,
    named_value_columns,
    named_value_of,
    values_listed,
)
from geomi.model.named_value import NamedValue

SQL = statements("store.postgres", "drawers")


class PostgresNamedValues:
    """`ports.drawers.Drawers` of one tenant."""

    def __init__(self, database: PostgresDatabase, tenant: str) -> None:
        self._database = database
        self._tenant = tenant

    async def add(
        self, drawer: str, name: str, body: bytes, *, due_at_s: float | None = None
    ) -> bool:
        """Put something into a drawer; False where the name is taken."""
        check_named_value(drawer, name, body)
        return await self._write(
            "add", NamedValue(self._tenant, drawer, name, body, due_at_s=due_at_s)
        )

    async def change(self, slip: NamedValue) -> bool:
        """Write body and due time of a slip that is still at this revision."""
        check_named_value(slip.drawer, slip.name, slip.body)
        return await self._write("change", slip)

    async def get(self, drawer: str, name: str) -> NamedValue | None:
        """Find something by its name."""
        values = {"tenant": self._tenant, "drawer": drawer, "name": name}
        row = await self._database.read(lambda db: db.row(SQL["get"], values))
        return named_value_of(row) if row else None

    async def list(
        self, drawer: str, *, after: str = "", limit: int, is_backwards: bool = False
    ) -> builtins.list[NamedValue]:
        """List a drawer in the order of names, or backwards."""
        values: dict[str, object] = {"drawer": drawer, "after": after, "many": values_listed(limit)}
        values["tenant"] = self._tenant
        statement = SQL["list_backwards" if is_backwards else "list"]
        rows = await self._database.read(lambda db: db.rows(statement, values))
        return [named_value_of(row) for row in rows]

    async def remove(self, slip: NamedValue) -> bool:
        """Remove a slip that is still at this revision."""
        return await self._write("remove", slip)

    async def count(self, drawer: str) -> int:
        """Return how many things are in a drawer."""
        values = {"tenant": self._tenant, "drawer": drawer}
        return int(await self._database.read(lambda db: db.value(SQL["count"], values)))

    async def _write(self, name: str, slip: NamedValue) -> bool:
        values = named_value_columns(slip) | {"tenant": self._tenant}
        return await self._database.write(lambda db: db.run(SQL[name], values) == 1)


class PostgresDueValues:
    """`ports.drawers.DueSlips`."""

    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database

    async def due(self, drawer: str, *, wall_s: float, limit: int) -> list[NamedValue]:
        """List what is due in the drawers of this name, longest due first."""
        values = {"drawer": drawer, "wall_s": wall_s, "many": values_listed(limit)}
        rows = await self._database.read(lambda db: db.rows(SQL["due"], values))
        return [named_value_of(row) for row in rows]

    async def next_due_s(self, drawer: str) -> float | None:
        """Return when the first of them is due."""
        values = {"drawer": drawer}
        found = await self._database.read(lambda db: db.value(SQL["next_due"], values))
        return None if found is None else float(found)
