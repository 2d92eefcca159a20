"""The providers of one tenant, and the erasing of their pages."""

from __future__ import annotations

import builtins
from collections.abc import Sequence

from geomi.adapters.store.codec import encode
from geomi.adapters.store.mapping import RowMapper
from geomi.adapters.store.rows import provider_of
from geomi.adapters.store.session import OwnedTable, Session
from geomi.adapters.store.statements import table_statements
from geomi.adapters.store.tables.pages import forget_bands, forget_changes, rewind
from geomi.adapters.store.tables.quotas import store_bytes
from geomi.model.site import Provider, Takedown

TAKEDOWNS = RowMapper(Takedown, "takedowns")
SQL = table_statements("providers", TAKEDOWNS)


class ProviderTable(OwnedTable):
    """`ports.sites.Providers` of one tenant."""

    async def list(self) -> builtins.list[Provider]:
        """List providers by key."""
        values = {"tenant": self._tenant}
        rows = await self._database.read(lambda db: db.rows(SQL["list"], values))
        return [provider_of(row) for row in rows]

    async def get(self, key: str) -> Provider | None:
        """Find a provider."""
        values = {"tenant": self._tenant, "key": key}
        row = await self._database.read(lambda db: db.row(SQL["get"], values))
        return provider_of(row) if row else None

    async def put(self, provider: Provider) -> None:
        """Keep a provider in place of the one before under its key."""
        values = {"tenant": self._tenant, "key": provider.key, "provider": encode(provider)}
        await self._database.write(lambda db: db.send(SQL["put"], values))

    async def remove(self, key: str) -> bool:
        """Forget a provider; False when there was none."""
        values = {"tenant": self._tenant, "key": key}
        return await self._database.write(lambda db: db.run(SQL["remove"], values) == 1)

    async def erase(self, takedown: Takedown, url_hashes: Sequence[bytes]) -> None:
        """Forget pages of the tenant and keep the line that says so."""
        await self._database.write(lambda db: _erase(db, self._tenant, takedown, url_hashes))

    async def takedowns(self) -> builtins.list[Takedown]:
        """List what was erased, newest first."""
        values = {"tenant": self._tenant}
        rows = await self._database.read(lambda db: db.rows(SQL["takedowns"], values))
        return [TAKEDOWNS.read(row) for row in rows]


def _erase(db: Session, tenant: str, takedown: Takedown, url_hashes: Sequence[bytes]) -> None:
    own = {"tenant": tenant}
    pages = [own | {"url_hash": url_hash} for url_hash in sorted(set(url_hashes))]
    db.send(SQL["gather"])
    db.send(SQL["forget_gathered"])
    db.run_each(SQL["add_gathered"], pages)
    # The rows of the log stay: they prove that the site was asked politely, which is owed to it
    # even now. Only what they tell of its content goes.
    db.send(SQL["hush_log"], own)
    captures = db.rows(SQL["forget_captures"], own)
    forget_bands(db, tenant, db.rows_of_each(SQL["forget_page"], pages))
    forget_changes(db, pages)
    db.run_each(SQL["forget_documents"], pages)
    rewind(db, {job for job, _ in captures})
    db.send(SQL["forget_gathered"])
    db.send(SQL["put_takedown"], own | TAKEDOWNS.values(takedown))
    store_bytes(db, tenant, -sum(size_bytes for _, size_bytes in captures))
