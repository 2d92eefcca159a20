"""What is known of sites: blocked URLs and domains, decisions, providers, takedowns, ranks."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Mapping, Sequence

from geomi.adapters.store.mapping import RowMapper
from geomi.adapters.store.rows import encode, provider_of
from geomi.adapters.store.session import OwnedTable, Session, SharedTable
from geomi.adapters.store.statements import table_statements
from geomi.adapters.store.tables.pages import forget_bands, forget_changes, rewind
from geomi.adapters.store.tables.quotas import store_bytes
from geomi.model.site import DomainList, Provider, Refusal, SiteRule, Takedown

REFUSALS = RowMapper(Refusal, "blocked_urls")
REFUSAL_SQL = table_statements("refusals", REFUSALS)
LISTS = RowMapper(DomainList, "domain_lists")
LIST_SQL = table_statements("domain_lists", LISTS)
RULES = RowMapper(SiteRule, "site_rules", without=frozenset({"remedy"}))
RULE_SQL = table_statements("site_rules", RULES)
TAKEDOWNS = RowMapper(Takedown, "takedowns")
PROVIDER_SQL = table_statements("providers", TAKEDOWNS)
RANK_SQL = table_statements("ranks")


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


class DomainListTable(SharedTable):
    """`ports.sites.DomainLists`."""

    async def list(self) -> builtins.list[DomainList]:
        """List them by name."""
        rows = await self._database.read(lambda db: db.rows(LIST_SQL["list"], {}))
        return [LISTS.read(row) for row in rows]

    async def body(self, name: str) -> bytes | None:
        """Return the body of a list."""
        row = await self._database.read(lambda db: db.row(LIST_SQL["body"], {"name": name}))
        return bytes(row[0]) if row else None

    async def put(self, one: DomainList, body: bytes) -> None:
        """Keep a list in place of the one before under its name."""
        values = LISTS.values(one) | {"body": body}
        await self._database.write(lambda db: db.send(LIST_SQL["put"], values))

    async def update(self, one: DomainList, body: bytes | None) -> None:
        """Keep what a refresh brought."""
        values = LISTS.values(one) | {"body": body}
        await self._database.write(lambda db: db.send(LIST_SQL["update"], values))

    async def take(self, one: DomainList, *, now_s: float) -> bool:
        """Take the turn to refresh a list."""
        values = {"name": one.name, "seen_s": one.tried_s, "now_s": now_s}
        return await self._database.write(lambda db: db.run(LIST_SQL["take"], values) == 1)

    async def remove(self, name: str) -> bool:
        """Forget a list; False when there was none."""
        return await self._database.write(
            lambda db: db.run(LIST_SQL["remove"], {"name": name}) == 1
        )


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


class ProviderTable(OwnedTable):
    """`ports.sites.Providers` of one tenant."""

    async def list(self) -> builtins.list[Provider]:
        """List providers by key."""
        values = {"tenant": self._tenant}
        rows = await self._database.read(lambda db: db.rows(PROVIDER_SQL["list"], values))
        return [provider_of(row) for row in rows]

    async def get(self, key: str) -> Provider | None:
        """Find a provider."""
        values = {"tenant": self._tenant, "key": key}
        row = await self._database.read(lambda db: db.row(PROVIDER_SQL["get"], values))
        return provider_of(row) if row else None

    async def put(self, provider: Provider) -> None:
        """Keep a provider in place of the one before under its key."""
        values = {"tenant": self._tenant, "key": provider.key, "provider": encode(provider)}
        await self._database.write(lambda db: db.send(PROVIDER_SQL["put"], values))

    async def remove(self, key: str) -> bool:
        """Forget a provider; False when there was none."""
        values = {"tenant": self._tenant, "key": key}
        return await self._database.write(lambda db: db.run(PROVIDER_SQL["remove"], values) == 1)

    async def erase(self, takedown: Takedown, url_hashes: Sequence[bytes]) -> None:
        """Forget pages of the tenant and keep the line that says so."""
        await self._database.write(lambda db: _erase(db, self._tenant, takedown, url_hashes))

    async def takedowns(self) -> builtins.list[Takedown]:
        """List what was erased, newest first."""
        values = {"tenant": self._tenant}
        rows = await self._database.read(lambda db: db.rows(PROVIDER_SQL["takedowns"], values))
        return [TAKEDOWNS.read(row) for row in rows]


class RankTable(SharedTable):
    """`ports.sites.Ranks`."""

    async def put(self, ranks: Sequence[tuple[str, int]], *, edition: int) -> None:
        """Keep a part of a list."""
        many = [{"name": name, "rank": rank, "edition": edition} for name, rank in ranks]
        await self._database.write(lambda db: db.send_all(RANK_SQL["put"], many))

    async def keep_only(self, edition: int) -> None:
        """Forget every list but one."""
        await self._database.write(lambda db: db.run(RANK_SQL["drop"], {"edition": edition}))

    async def find(self, names: Sequence[str]) -> Mapping[str, int]:
        """Return the ranks of those names that have one."""
        many = [{"name": name} for name in names]
        return dict(await self._database.read(lambda db: db.rows_of_each(RANK_SQL["find"], many)))

    async def count(self) -> int:
        """Return how many names have a rank."""
        return int(await self._database.read(lambda db: db.value(RANK_SQL["count"])))


def write_refusals(db: Session, tenant: str, refusals: Iterable[Refusal]) -> None:
    """Keep refusals in place of those before, in the order in which all lock them."""
    newest = {one.url_hash: REFUSALS.values(one) | {"tenant": tenant} for one in refusals}
    db.send_all(REFUSAL_SQL["put"], [newest[url_hash] for url_hash in sorted(newest)])


def _erase(db: Session, tenant: str, takedown: Takedown, url_hashes: Sequence[bytes]) -> None:
    own = {"tenant": tenant}
    pages = [own | {"url_hash": url_hash} for url_hash in sorted(set(url_hashes))]
    db.send(PROVIDER_SQL["gather"])
    db.send(PROVIDER_SQL["forget_gathered"])
    db.run_each(PROVIDER_SQL["add_gathered"], pages)
    # The rows of the log stay: they prove that the site was asked politely, which is owed to it
    # even now. Only what they tell of its content goes.
    db.send(PROVIDER_SQL["hush_log"], own)
    captures = db.rows(PROVIDER_SQL["forget_captures"], own)
    forget_bands(db, tenant, db.rows_of_each(PROVIDER_SQL["forget_page"], pages))
    forget_changes(db, pages)
    db.run_each(PROVIDER_SQL["forget_documents"], pages)
    rewind(db, {job for job, _ in captures})
    db.send(PROVIDER_SQL["forget_gathered"])
    db.send(PROVIDER_SQL["put_takedown"], own | TAKEDOWNS.values(takedown))
    store_bytes(db, tenant, -sum(size_bytes for _, size_bytes in captures))
