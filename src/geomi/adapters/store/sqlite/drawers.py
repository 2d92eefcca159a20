"""Small things kept by name, and those that are due."""

from __future__ import annotations

import builtins

from geomi.adapters.store.sqlite.connection import SqliteDatabase
from geomi.adapters.store.statements import statements
from geomi.adapters.store.tables.named_values import (
    check_named_value,
    named_value_columns,
    named_value_of,
    values_listed,
)
from geomi.model.named_value import NamedValue

SQL = statements("store.sqlite", "drawers")


class SqliteNamedValues:
    """`ports.drawers.Drawers` of one tenant."""

    def __init__(self, database: SqliteDatabase, tenant: str) -> None:
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
        with self._database.read() as db:
            row = db.execute(SQL["get"], values).fetchone()
        return named_value_of(row) if row else None

    async def list(
        self, drawer: str, *, after: str = "", limit: int, is_backwards: bool = False
    ) -> builtins.list[NamedValue]:
        """List a drawer in the order of names, or backwards."""
        values = {"drawer": drawer, "after": after, "many": values_listed(limit)}
        statement = SQL["list_backwards" if is_backwards else "list"]
        with self._database.read() as db:
            rows = db.execute(statement, values | {"tenant": self._tenant})
            return [named_value_of(row) for row in rows]

    async def remove(self, slip: NamedValue) -> bool:
        """Remove a slip that is still at this revision."""
        return await self._write("remove", slip)

    async def count(self, drawer: str) -> int:
        """Return how many things are in a drawer."""
        values = {"tenant": self._tenant, "drawer": drawer}
        with self._database.read() as db:
            return int(db.execute(SQL["count"], values).fetchone()[0])

    async def _write(self, name: str, slip: NamedValue) -> bool:
        values = named_value_columns(slip) | {"tenant": self._tenant}
        return await self._database.write(lambda db: db.execute(SQL[name], values).rowcount == 1)


class SqliteDueValues:
    """`ports.drawers.DueSlips`."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    async def due(self, drawer: str, *, wall_s: float, limit: int) -> list[NamedValue]:
        """List what is due in the drawers of this name, longest due first."""
        values = {"drawer": drawer, "wall_s": wall_s, "many": values_listed(limit)}
        with self._database.read() as db:
            return [named_value_of(row) for row in db.execute(SQL["due"], values)]

    async def next_due_s(self, drawer: str) -> float | None:
        """Return when the first of them is due."""
        with self._database.read() as db:
            row = db.execute(SQL["next_due"], {"drawer": drawer}).fetchone()
        return None if row[0] is None else float(row[0])
