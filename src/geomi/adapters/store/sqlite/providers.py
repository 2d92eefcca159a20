"""The providers of one tenant, and the erasing of their pages."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from functools import partial

from geomi.adapters.store.codec import encode
from geomi.adapters.store.keys import band_keys
from geomi.adapters.store.rows import provider_of
from geomi.adapters.store.sqlite.connection import SqliteDatabase, SqliteSession
from geomi.adapters.store.sqlite.quotas import store_bytes
from geomi.adapters.store.statements import statements
from geomi.model.site import Provider, Takedown

SQL = statements("store.sqlite", "providers")


class SqliteProviders:
    """`ports.store.Providers` of one tenant."""

    def __init__(self, database: SqliteDatabase, tenant: str) -> None:
        self._database = database
        self._tenant = tenant

    async def list(self) -> builtins.list[Provider]:
        """List providers by key."""
        with self._database.reading() as db:
            return [provider_of(row) for row in db.execute(SQL["list"], (self._tenant,))]

    async def get(self, key: str) -> Provider | None:
        """Find a provider."""
        with self._database.reading() as db:
            row = db.execute(SQL["get"], (self._tenant, key)).fetchone()
        return provider_of(row) if row else None

    async def put(self, provider: Provider) -> None:
        """Keep a provider in place of the one before under its key."""
        columns = (self._tenant, provider.key, encode(provider))
        await self._database.write(lambda db: db.execute(SQL["put"], columns))

    async def remove(self, key: str) -> bool:
        """Forget a provider; False when there was none."""
        return await self._database.write(partial(_remove, tenant=self._tenant, key=key))

    async def erase(self, takedown: Takedown, url_hashes: Sequence[bytes]) -> None:
        """Forget pages of the tenant and keep the line that says so."""
        await self._database.write(
            partial(_erase, tenant=self._tenant, takedown=takedown, url_hashes=url_hashes)
        )

    async def takedowns(self) -> builtins.list[Takedown]:
        """List what was erased, newest first."""
        with self._database.reading() as db:
            return [Takedown(*row) for row in db.execute(SQL["takedowns"], (self._tenant,))]


def _remove(db: SqliteSession, *, tenant: str, key: str) -> bool:
    return db.execute(SQL["remove"], (tenant, key)).rowcount == 1


def _erase(
    db: SqliteSession, *, tenant: str, takedown: Takedown, url_hashes: Sequence[bytes]
) -> None:
    db.execute(SQL["gather"])
    db.executemany(SQL["erase"], ((url_hash,) for url_hash in url_hashes))
    # The rows of the log stay: they prove that the site was asked politely, which is owed to it
    # even now. Only what they tell of its content goes.
    db.execute(SQL["hush_log"], {"tenant": tenant})
    _forget_captures(db, tenant)
    _forget_pages(db, tenant)
    db.execute(SQL["forget_gathered"])
    line = (takedown.key, takedown.name, takedown.reason, takedown.at_s, takedown.jobs)
    db.execute(SQL["put_takedown"], (tenant, *line, takedown.pages))


def _forget_captures(db: SqliteSession, tenant: str) -> None:
    captures = db.execute(SQL["erased_captures"], (tenant,)).fetchall()
    db.executemany(SQL["forget_capture"], ((seq,) for seq, *_ in captures))
    db.executemany(SQL["rewind"], {(job,) for _, job, _ in captures})
    store_bytes(db, tenant, -sum(size_bytes for *_, size_bytes in captures))


def _forget_pages(db: SqliteSession, tenant: str) -> None:
    for number, *known in db.execute(SQL["erased_pages"], (tenant,)).fetchall():
        bands = band_keys(tenant, *known)
        db.executemany(SQL["forget_band"], ((band, number) for band in bands))
    for name in ("forget_pages", "forget_histories", "forget_versions", "forget_documents"):
        db.execute(SQL[name], (tenant,))
