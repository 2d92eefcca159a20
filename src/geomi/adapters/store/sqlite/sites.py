"""What is left alone, and what people decided about hosts: URLs that refused us, reviews."""

from __future__ import annotations

import builtins
from functools import partial

from geomi.adapters.store.rows import Row, refusal_columns, rule_columns, rule_of
from geomi.adapters.store.sqlite.connection import SqliteDatabase, SqliteSession
from geomi.adapters.store.statements import statements
from geomi.model.site import Refusal, SiteRule

SQL = statements("store.sqlite", "sites")


class SqliteRefusals:
    """`ports.store.Refusals` of one tenant."""

    def __init__(self, database: SqliteDatabase, tenant: str) -> None:
        self._database = database
        self._tenant = tenant

    async def find(self, url_hash: bytes, *, wall_s: float) -> Refusal | None:
        """Find a refusal that still holds."""
        values = {"tenant": self._tenant, "url_hash": url_hash, "wall_s": wall_s}
        with self._database.reading() as db:
            row = db.execute(SQL["refusal"], values).fetchone()
        return Refusal(*row) if row else None

    async def list(self, *, after: bytes, limit: int) -> builtins.list[Refusal]:
        """List refusals in the order of their hashes, also those that are over."""
        values = {"tenant": self._tenant, "after": after, "many": limit}
        with self._database.reading() as db:
            return [Refusal(*row) for row in db.execute(SQL["refusals"], values)]

    async def put(self, refusal: Refusal) -> None:
        """Keep a refusal in place of the one before."""
        await self._database.write(partial(write_refusal, tenant=self._tenant, refusal=refusal))

    async def remove(self, url_hash: bytes) -> bool:
        """Forget a refusal; False when there was none."""
        return await self._database.write(
            partial(_remove, name="forgive", key=(self._tenant, url_hash))
        )


class SqliteSiteRules:
    """`ports.store.SiteRules` of one tenant."""

    def __init__(self, database: SqliteDatabase, tenant: str) -> None:
        self._database = database
        self._tenant = tenant

    async def list(self) -> builtins.list[SiteRule]:
        """List all decisions, by host and pattern."""
        with self._database.reading() as db:
            return [rule_of(row) for row in db.execute(SQL["rules"], (self._tenant,))]

    async def put(self, rule: SiteRule) -> None:
        """Keep a decision in place of the one before on the same host and pattern."""
        await self._database.write(partial(_put_rule, tenant=self._tenant, rule=rule))

    async def remove(self, host: str, pattern: str) -> bool:
        """Forget a decision; False when there was none."""
        return await self._database.write(
            partial(_remove, name="forget_rule", key=(self._tenant, host, pattern))
        )


def write_refusal(db: SqliteSession, *, tenant: str, refusal: Refusal) -> None:
    """Keep a refusal in place of the one before."""
    db.execute(SQL["refuse"], refusal_columns(tenant, refusal))


def _put_rule(db: SqliteSession, *, tenant: str, rule: SiteRule) -> None:
    db.execute(SQL["put_rule"], rule_columns(tenant, rule))


def _remove(db: SqliteSession, *, name: str, key: Row) -> bool:
    return db.execute(SQL[name], key).rowcount == 1
