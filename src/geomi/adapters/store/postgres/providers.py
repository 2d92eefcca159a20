"""The providers of one tenant, and the erasing of their pages."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial

from geomi.adapters.store.codec import encode
from geomi.adapters.store.keys import band_keys
from geomi.adapters.store.postgres.connection import PostgresDatabase
from geomi.adapters.store.postgres.quotas import give_back
from geomi.adapters.store.postgres.session import PostgresSession
from geomi.adapters.store.postgres.settle import lose_bands
from geomi.adapters.store.rows import provider_of
from geomi.adapters.store.statements import statements
from geomi.model.site import Provider, Takedown

SQL = statements("store.postgres", "providers")


class PostgresProviders:
    """`ports.site.Providers` of one tenant."""

    def __init__(self, database: PostgresDatabase, tenant: str) -> None:
        self._database = database
        self._tenant = tenant

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
        await self._database.write(lambda db: db.run(SQL["put"], values))

    async def remove(self, key: str) -> bool:
        """Forget a provider; False when there was none."""
        values = {"tenant": self._tenant, "key": key}
        return await self._database.write(lambda db: db.run(SQL["remove"], values) == 1)

    async def erase(self, takedown: Takedown, url_hashes: Sequence[bytes]) -> None:
        """Forget pages of the tenant and keep the line that says so."""
        await self._database.write(
            partial(_erase, tenant=self._tenant, takedown=takedown, hashes=list(url_hashes))
        )

    async def takedowns(self) -> builtins.list[Takedown]:
        """List what was erased, newest first."""
        values = {"tenant": self._tenant}
        rows = await self._database.read(lambda db: db.rows(SQL["takedowns"], values))
        return [Takedown(*row) for row in rows]


def _erase(db: PostgresSession, *, tenant: str, takedown: Takedown, hashes: list[bytes]) -> None:
    values = {"tenant": tenant, "hashes": hashes}
    # The rows of the log stay: they prove that the site was asked politely, which is owed to it
    # even now. Only what they tell of its content goes.
    db.run(SQL["hush_log"], values)
    pages = db.rows(SQL["forget_pages"], values)
    for name in ("forget_histories", "forget_versions", "forget_documents"):
        db.run(SQL[name], values)
    lose_bands(db, [(band, row[0]) for row in pages for band in band_keys(tenant, *row[1:])])
    jobs = db.rows(SQL["forget_captures"], values)
    db.run(SQL["rewind"], {"jobs": [job for job, _ in jobs]})
    db.run(SQL["put_takedown"], asdict(takedown) | {"tenant": tenant})
    give_back(db, {tenant: sum(size_bytes for _, size_bytes in jobs)})
