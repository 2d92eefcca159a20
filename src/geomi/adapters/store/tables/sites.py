"""What is left alone, and what people decided about hosts: URLs that refused us, reviews."""

from __future__ import annotations

import builtins
from collections.abc import Iterable

from geomi.adapters.store.mapping import RowMapper
from geomi.adapters.store.session import OwnedTable, Session
from geomi.adapters.store.statements import table_statements
from geomi.model.site import Refusal, SiteRule

REFUSALS = RowMapper(Refusal, "blocked_urls")
REFUSAL_SQL = table_statements("refusals", REFUSALS)
RULES = RowMapper(SiteRule, "site_rules", without=frozenset({"remedy"}))
RULE_SQL = table_statements("site_rules", RULES)


class RefusalTable(OwnedTable):
    """`ports.sites.Refusals` of one tenant."""

    async def find(self, url_hash: bytes, *, wall_s: float) -> Refusal | None:
        """Find a refusal that still holds."""
        values = {"tenant": self._tenant, "url_hash": url_hash, "wall_s": wall_s}
        row = await self._database.read(lambda db: db.row(REFUSAL_SQL["find"], values))
        return REFUSALS.read(row) if row else None

    async def list(self, *, after: bytes, limit: int) -> builtins.list[Refusal]:
        """List refusals in the order of their hashes, also those that are over."""
        values = {"tenant": self._tenant, "after": after, "many": limit}
        rows = await self._database.read(lambda db: db.rows(REFUSAL_SQL["list"], values))
        return [REFUSALS.read(row) for row in rows]

    async def put(self, refusal: Refusal) -> None:
        """Keep a refusal in place of the one before."""
        await self._database.write(lambda db: write_refusals(db, self._tenant, [refusal]))

    async def remove(self, url_hash: bytes) -> bool:
        """Forget a refusal; False when there was none."""
        values = {"tenant": self._tenant, "url_hash": url_hash}
        return await self._database.write(lambda db: db.run(REFUSAL_SQL["remove"], values) == 1)


class SiteRuleTable(OwnedTable):
    """`ports.sites.SiteRules` of one tenant."""

    async def list(self) -> builtins.list[SiteRule]:
        """List all decisions, by host and pattern."""
        values = {"tenant": self._tenant}
        rows = await self._database.read(lambda db: db.rows(RULE_SQL["list"], values))
        return [RULES.read(row) for row in rows]

    async def put(self, rule: SiteRule) -> None:
        """Keep a decision in place of the one before on the same host and pattern."""
        values = RULES.values(rule) | {"tenant": self._tenant}
        await self._database.write(lambda db: db.send(RULE_SQL["put"], values))

    async def remove(self, host: str, pattern: str) -> bool:
        """Forget a decision; False when there was none."""
        values = {"tenant": self._tenant, "host": host, "pattern": pattern}
        return await self._database.write(lambda db: db.run(RULE_SQL["remove"], values) == 1)


def write_refusals(db: Session, tenant: str, refusals: Iterable[Refusal]) -> None:
    """Keep refusals in place of those before, in the order in which all lock them."""
    newest = {one.url_hash: REFUSALS.values(one) | {"tenant": tenant} for one in refusals}
    db.send_all(REFUSAL_SQL["put"], [newest[url_hash] for url_hash in sorted(newest)])
