"""Small values kept by name in the buckets of a tenant, and those that are due."""

from __future__ import annotations

import builtins

from geomi.adapters.store.keys import refuse_long
from geomi.adapters.store.mapping import RowMapper
from geomi.adapters.store.session import Database
from geomi.adapters.store.statements import table_statements
from geomi.errors import StoreError
from geomi.model.named_value import MAX_LISTED_VALUES, MAX_NAMED_VALUE_BYTES, NamedValue

ROWS = RowMapper(NamedValue, "drawers")
SQL = table_statements("named_values", ROWS)


class NamedValueTable:
    """`ports.named_values.NamedValues` of one tenant."""

    def __init__(self, database: Database, tenant: str) -> None:
        self._database = database
        self._tenant = tenant

    async def add(
        self, drawer: str, name: str, body: bytes, *, due_at_s: float | None = None
    ) -> bool:
        """Put something into a drawer; False where the name is taken."""
        return await self._write(
            "add", NamedValue(self._tenant, drawer, name, body, due_at_s=due_at_s)
        )

    async def change(self, slip: NamedValue) -> bool:
        """Write body and due time of a slip that is still at this revision."""
        return await self._write("change", slip)

    async def get(self, drawer: str, name: str) -> NamedValue | None:
        """Find something by its name."""
        values = {"tenant": self._tenant, "drawer": drawer, "name": name}
        row = await self._database.read(lambda db: db.row(SQL["get"], values))
        return ROWS.read(row) if row else None

    async def list(
        self, drawer: str, *, after: str = "", limit: int, is_backwards: bool = False
    ) -> builtins.list[NamedValue]:
        """List a drawer in the order of names, or backwards."""
        values = {"tenant": self._tenant, "drawer": drawer, "after": after}
        many = {"many": values_listed(limit)}
        statement = SQL["list_backwards" if is_backwards else "list"]
        rows = await self._database.read(lambda db: db.rows(statement, {**values, **many}))
        return [ROWS.read(row) for row in rows]

    async def remove(self, slip: NamedValue) -> bool:
        """Remove a slip that is still at this revision."""
        values = ROWS.values(slip) | {"tenant": self._tenant}
        return await self._database.write(lambda db: db.run(SQL["remove"], values) == 1)

    async def count(self, drawer: str) -> int:
        """Return how many things are in a drawer."""
        values = {"tenant": self._tenant, "drawer": drawer}
        return int(await self._database.read(lambda db: db.value(SQL["count"], values)))

    async def _write(self, name: str, slip: NamedValue) -> bool:
        check_named_value(slip)
        values = ROWS.values(slip) | {"tenant": self._tenant}
        return await self._database.write(lambda db: db.run(SQL[name], values) == 1)


class DueValueTable:
    """`ports.named_values.DueValues`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def due(self, drawer: str, *, wall_s: float, limit: int) -> list[NamedValue]:
        """List what is due in the drawers of this name, longest due first."""
        values = {"drawer": drawer, "wall_s": wall_s, "many": values_listed(limit)}
        rows = await self._database.read(lambda db: db.rows(SQL["due"], values))
        return [ROWS.read(row) for row in rows]

    async def next_due_s(self, drawer: str) -> float | None:
        """Return when the first of them is due."""
        due_s = await self._database.read(lambda db: db.value(SQL["next_due"], {"drawer": drawer}))
        return None if due_s is None else float(due_s)


def check_named_value(slip: NamedValue) -> None:
    """Refuse what is too large to be kept."""
    refuse_long("drawer", slip.drawer)
    refuse_long(f"name in the drawer `{slip.drawer}`", slip.name)
    if len(slip.body) > MAX_NAMED_VALUE_BYTES:
        raise StoreError(
            f"`{slip.name}` in `{slip.drawer}` has {len(slip.body):,} bytes; "
            f"the limit is {MAX_NAMED_VALUE_BYTES:,}"
        )


def values_listed(limit: int) -> int:
    """Return how many slips are in one answer."""
    return max(0, min(limit, MAX_LISTED_VALUES))
