"""What is left alone, and what people decided about hosts: URLs that refused us, reviews."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from functools import partial

from geomi.adapters.store.postgres.connection import PostgresDatabase
from geomi.adapters.store.postgres.session import PostgresSession, columns
from geomi.adapters.store.rows import refusal_columns, rule_columns, rule_of
from geomi.adapters.store.statements import statements
from geomi.model.site import Refusal, SiteRule

SQL = statements("store.postgres", "sites")

_REFUSAL = ("tenant", "url_hash", "url", "status", "reason", "since_s", "until_s")
_RULE = ("tenant", "host", "pattern", "review", "note", "since_s")


class PostgresRefusals:
    """`ports.site.Refusals` of one tenant."""

    def __init__(self, database: PostgresDatabase, tenant: str) -> None:
        self._database = database
        self._tenant = tenant

    async def find(self, url_hash: bytes, *, wall_s: float) -> Refusal | None:
        """Find a refusal that still holds."""
        values = {"tenant": self._tenant, "url_hash": url_hash, "wall_s": wall_s}
        row = await self._database.read(lambda db: db.row(SQL["refusal"], values))
        return Refusal(*row) if row else None

    async def list(self, *, after: bytes, limit: int) -> builtins.list[Refusal]:
        """List refusals in the order of their hashes, also those that are over."""
        values = {"tenant": self._tenant, "after": after, "many": limit}
        rows = await self._database.read(lambda db: db.rows(SQL["refusals"], values))
        return [Refusal(*row) for row in rows]

    async def put(self, refusal: Refusal) -> None:
        """Keep a refusal in place of the one before."""
        await self._database.write(partial(write_refusals, tenant=self._tenant, refusals=[refusal]))

    async def remove(self, url_hash: bytes) -> bool:
        """Forget a refusal; False when there was none."""
        values = {"tenant": self._tenant, "url_hash": url_hash}
        return await self._database.write(lambda db: db.run(SQL["forgive"], values) == 1)


class PostgresSiteRules:
    """`ports.site.SiteRules` of one tenant."""

    def __init__(self, database: PostgresDatabase, tenant: str) -> None:
        self._database = database
        self._tenant = tenant

    async def list(self) -> builtins.list[SiteRule]:
        """List all decisions, by host and pattern."""
        values = {"tenant": self._tenant}
        rows = await self._database.read(lambda db: db.rows(SQL["rules"], values))
        return [rule_of(row) for row in rows]

    async def put(self, rule: SiteRule) -> None:
        """Keep a decision in place of the one before on the same host and pattern."""
        values = dict(zip(_RULE, rule_columns(self._tenant, rule), strict=True))
        await self._database.write(lambda db: db.run(SQL["put_rule"], values))

    async def remove(self, host: str, pattern: str) -> bool:
        """Forget a decision; False when there was none."""
        values = {"tenant": self._tenant, "host": host, "pattern": pattern}
        return await self._database.write(lambda db: db.run(SQL["forget_rule"], values) == 1)


def write_refusals(db: PostgresSession, tenant: str, refusals: Sequence[Refusal]) -> None:
    """Keep refusals in place of those before, in the order in which all lock them."""
    newest = {one.url_hash: one for one in refusals}
    rows = []
    for _, one in sorted(newest.items()):
        *left, since_s, until_s = refusal_columns(tenant, one)
        rows.append((*left, float(since_s), None if until_s is None else float(until_s)))
    if rows:
        db.send(SQL["refuse"], columns(rows, _REFUSAL))
