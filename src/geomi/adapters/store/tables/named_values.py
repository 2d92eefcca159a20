"""Small values kept by name in the namespaces of a tenant, and those that are due."""

from __future__ import annotations

import builtins

from geomi.adapters.store.mapping import RowMapper
from geomi.adapters.store.rows import refuse_long
from geomi.adapters.store.session import OwnedTable, SharedTable
from geomi.adapters.store.statements import table_statements
from geomi.errors import StoreError
from geomi.model.named_value import MAX_LISTED_VALUES, MAX_NAMED_VALUE_BYTES, NamedValue

ROWS = RowMapper(NamedValue, "named_values")
SQL = table_statements("named_values", ROWS)


class NamedValueTable(OwnedTable):
    """`ports.named_values.NamedValues` of one tenant."""

    async def add(
        self, namespace: str, name: str, body: bytes, *, due_at_s: float | None = None
    ) -> bool:
        """Put something into a namespace; False where the name is taken."""
        return await self._write(
            "add", NamedValue(self._tenant, namespace, name, body, due_at_s=due_at_s)
        )

    async def change(self, named: NamedValue) -> bool:
        """Write body and due time of a named value that is still at this revision."""
        return await self._write("change", named)

    async def get(self, namespace: str, name: str) -> NamedValue | None:
        """Find something by its name."""
        values = {"tenant": self._tenant, "namespace": namespace, "name": name}
        row = await self._database.read(lambda db: db.row(SQL["get"], values))
        return ROWS.read(row) if row else None

    async def list(
        self, namespace: str, *, after: str = "", limit: int, is_backwards: bool = False
    ) -> builtins.list[NamedValue]:
        """List a namespace in the order of names, or backwards."""
        values = {"tenant": self._tenant, "namespace": namespace, "after": after}
        many = {"many": values_listed(limit)}
        statement = SQL["list_backwards" if is_backwards else "list"]
        rows = await self._database.read(lambda db: db.rows(statement, {**values, **many}))
        return [ROWS.read(row) for row in rows]

    async def remove(self, named: NamedValue) -> bool:
        """Remove a named value that is still at this revision."""
        values = ROWS.values(named) | {"tenant": self._tenant}
        return await self._database.write(lambda db: db.run(SQL["remove"], values) == 1)

    async def count(self, namespace: str) -> int:
        """Return how many values are in a namespace."""
        values = {"tenant": self._tenant, "namespace": namespace}
        return int(await self._database.read(lambda db: db.value(SQL["count"], values)))

    async def _write(self, name: str, named: NamedValue) -> bool:
        check_named_value(named)
        values = ROWS.values(named) | {"tenant": self._tenant}
        return await self._database.write(lambda db: db.run(SQL[name], values) == 1)


class DueValueTable(SharedTable):
    """`ports.named_values.DueValues`."""

    async def due(self, namespace: str, *, wall_s: float, limit: int) -> list[NamedValue]:
        """List what is due in the namespaces of this name, longest due first."""
        values = {"namespace": namespace, "wall_s": wall_s, "many": values_listed(limit)}
        rows = await self._database.read(lambda db: db.rows(SQL["due"], values))
        return [ROWS.read(row) for row in rows]


def check_named_value(named: NamedValue) -> None:
    """Refuse what is too large to be kept."""
    refuse_long("namespace", named.namespace)
    refuse_long(f"name in the namespace `{named.namespace}`", named.name)
    if len(named.body) > MAX_NAMED_VALUE_BYTES:
        raise StoreError(
            f"`{named.name}` in `{named.namespace}` has {len(named.body):,} bytes; "
            f"the limit is {MAX_NAMED_VALUE_BYTES:,}"
        )


def values_listed(limit: int) -> int:
    """Return how many values are in one answer."""
    return max(0, min(limit, MAX_LISTED_VALUES))
