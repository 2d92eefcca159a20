"""The jobs of every tenant that somebody has to look after."""

from __future__ import annotations

from geomi.adapters.store.session import NO_VALUES, SharedTable, Values
from geomi.adapters.store.statements import table_statements
from geomi.ports.jobs import TenantJob

SQL = table_statements("roster")


class RosterTable(SharedTable):
    """`ports.jobs.JobRoster`."""

    async def active(self, limit: int) -> list[TenantJob]:
        """Name the jobs that workers may take up, oldest first."""
        return await self._named("active", limit)

    async def waiting(self, limit: int) -> list[TenantJob]:
        """Name the service's jobs that have not come to their first page, oldest first."""
        return await self._named("waiting", limit)

    async def finalizing(self, limit: int) -> list[TenantJob]:
        """Name the service's jobs that have nothing left to fetch and are not finished."""
        return await self._named("finalizing", limit)

    async def watched(self, *, wall_s: float, limit: int, is_served: bool) -> list[TenantJob]:
        """Name the watched crawls that are over and to be looked at, the longest due first."""
        return await self._named("watched", limit, {"wall_s": wall_s, "is_served": is_served})

    async def tenant_of(self, job: str) -> str | None:
        """Return whose a job is."""
        row = await self._database.read(lambda db: db.row(SQL["tenant_of"], {"job": job}))
        return row[0] if row else None

    async def tenants(self) -> list[str]:
        """Name everybody who has a job."""
        rows = await self._database.read(lambda db: db.rows(SQL["tenants"]))
        return [tenant for (tenant,) in rows]

    async def _named(self, name: str, limit: int, asked: Values = NO_VALUES) -> list[TenantJob]:
        values = {"many": max(0, limit), **asked}
        rows = await self._database.read(lambda db: db.rows(SQL[name], values))
        return [(tenant, job) for tenant, job in rows]
