"""The parts of the store about jobs: journal, retention, quotas, and the jobs of all tenants.

The store writes a journal event in the transaction that changes a job, so no event is missing and
none is false. Retention deletes in short transactions: `begin` first marks what it deletes, and
from then on nothing uses it. `Quotas` says what a tenant may use; `settle` counts, `claim` obeys.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from geomi.model.job import Expired, JobEvent
from geomi.model.named_value import NamedValue
from geomi.model.tenant import Quota, TenantUsage

TenantJob = tuple[str, str]  # a tenant, and the id of one of its jobs


class JobJournal(Protocol):
    """The events of one tenant's jobs; they are forgotten with their job."""

    async def read(self, job: str, *, after: int = 0, limit: int) -> Sequence[JobEvent]:
        """List a job's events after one, in their order.

        There are never more than `MAX_LISTED_EVENTS` at once: what ends a walk is an empty list.
        """
        ...


class UnsentEvents(Protocol):
    """The events of the service's jobs without deliveries yet, of every tenant."""

    async def list(self, limit: int) -> Sequence[JobEvent]:
        """List them, oldest first."""
        ...

    async def hand_over(self, event: JobEvent, values: Sequence[NamedValue]) -> bool:
        """Keep the deliveries of an event and strike it off, or neither.

        False, and nothing written, where it was struck off before, or is forgotten. A value whose
        name is taken stays as it is.
        """
        ...


class JobRoster(Protocol):
    """The jobs of every tenant, for workers and the service.

    A paused job is on no list. Jobs of the service are those with a collection; what begins and
    ends a job of the command line is the command.
    """

    async def active(self, limit: int) -> Sequence[TenantJob]:
        """Return the jobs that workers may serve, oldest first.

        A job of the service without URLs left is not in the list: the service finishes it.
        """
        ...

    async def waiting(self, limit: int) -> Sequence[TenantJob]:
        """Return the service's jobs before their first page, oldest first.

        First the oldest of each tenant, then the second of each, so that no tenant fills
        the list.
        """
        ...

    async def finalizing(self, limit: int) -> Sequence[TenantJob]:
        """Name the service's jobs that have nothing left to fetch and are not finished."""
        ...

    async def watched(self, *, wall_s: float, limit: int, is_served: bool) -> Sequence[TenantJob]:
        """Name the watched crawls that are over and to be looked at, the longest due first.

        Args:
            is_served: those of the service; else those of the command line.
        """
        ...

    async def tenant_of(self, job: str) -> str | None:
        """Return the tenant of a job; None if there is no such job."""
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


class RetentionStep(NamedTuple):
    """One stretch of a walk: where the next begins, 0 at the end, and how much has gone."""

    after: int
    gone: int


class JobRetention(Protocol):
    """The jobs of one tenant whose time is over.

    A crawl ages as a whole: the time of each of its jobs counts from the end of the last of them.
    """

    async def due(self, *, wall_s: float, limit: int) -> list[tuple[str, Expired]]:
        """Name jobs that have something to lose, and what: `URLS_GOING` or `JOB_GOING`."""
        ...

    async def begin(self, job: str, what: Expired, *, wall_s: float) -> bool:
        """Write down that something is going; False where it is not due any more."""
        ...

    async def forget_urls(self, job: str, *, limit: int) -> int:
        """Forget some URLs of a job that is going, and return how many; 0 when all have gone."""
        ...

    async def forget_pages(self, job: str, *, after: int, limit: int) -> RetentionStep:
        """Forget pages and histories whose newest copy is in a job that is going."""
        ...

    async def forget_captures(self, job: str, *, limit: int) -> int:
        """Forget some captures of a job that is going, and return how many."""
        ...

    async def forget_requests(self, job: str, *, after: int, limit: int) -> RetentionStep:
        """Delete the rows of a deleted job in a part of the request log."""
        ...
