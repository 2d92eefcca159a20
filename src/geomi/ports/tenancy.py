"""The tenants of a store: which of their jobs somebody has to look after, and what each may use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from geomi.model.tenant import Quota, TenantUsage

Own = tuple[str, str]  # a tenant, and the id of one of its jobs


class Roster(Protocol):
    """The jobs of every tenant, for whoever serves all of them.

    A paused job is on no list. Jobs of the service are those with a collection; what begins and
    ends a job of the command line is the command.
    """

    async def active(self, limit: int) -> Sequence[Own]:
        """Name the jobs that workers may take up, oldest first.

        Once nothing is left to fetch, a job of the service is left to whoever finishes it.
        """
        ...

    async def waiting(self, limit: int) -> Sequence[Own]:
        """Name the service's jobs that have not come to their first page, oldest first.

        First the oldest of each tenant, then the second of each: one with many keeps nobody from
        the list.
        """
        ...

    async def finalizing(self, limit: int) -> Sequence[Own]:
        """Name the service's jobs that have nothing left to fetch and are not finished."""
        ...

    async def tenant_of(self, job: str) -> str | None:
        """Return whose a job is; None where there is none."""
        ...

    async def tenants(self) -> Sequence[str]:
        """Name everybody who has a job, in whatever state it is, in the order of their names."""
        ...


class Quotas(Protocol):
    """What one tenant may use, and has used.

    `settle` counts, in its own transaction, and `claim` lends no more than is left. A tenant that
    was never allowed anything has no limit, and nothing of it is counted.
    """

    async def allow(self, quota: Quota) -> None:
        """Write what the tenant may use from now on; what it has used stays counted."""
        ...

    async def standing(self, *, wall_s: float) -> TenantUsage:
        """Return what the tenant may use, and has used on the day of this time."""
        ...
