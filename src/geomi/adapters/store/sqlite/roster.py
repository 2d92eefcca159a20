"""The jobs of every tenant that somebody has to look after."""

from __future__ import annotations

from geomi.adapters.store.sqlite.connection import SqliteDatabase
from geomi.adapters.store.statements import statements
from geomi.ports.jobs import TenantJob

SQL = statements("store.sqlite", "roster")


class SqliteRoster:
    """`ports.tenancy.Roster`."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    async def active(self, limit: int) -> list[TenantJob]:
        """Name the jobs that workers may take up, oldest first."""
        return self._named("active", limit)

    async def waiting(self, limit: int) -> list[TenantJob]:
        """Name the service's jobs that have not come to their first page, oldest first."""
        return self._named("waiting", limit)

    async def finalizing(self, limit: int) -> list[TenantJob]:
        """Name the service's jobs that have nothing left to fetch and are not finished."""
        return self._named("finalizing", limit)

    async def tenant_of(self, job: str) -> str | None:
        """Return whose a job is."""
        with self._database.reading() as db:
            row = db.execute(SQL["tenant_of"], {"job": job}).fetchone()
        return row[0] if row else None

    async def tenants(self) -> list[str]:
        """Name everybody who has a job."""
        with self._database.reading() as db:
            return [tenant for (tenant,) in db.execute(SQL["tenants"])]

    def _named(self, name: str, limit: int) -> list[TenantJob]:
        with self._database.reading() as db:
            return db.execute(SQL[name], {"many": max(0, limit)}).fetchall()
