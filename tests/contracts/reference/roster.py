"""The jobs of every tenant that somebody has to look after."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from geomi.model.job import CrawlJob, JobState
from geomi.ports.jobs import TenantJob
from tests.contracts.reference.world import World

_WAITING = (JobState.PENDING, JobState.INITIALIZING, JobState.DISCOVERING)


class MemoryRoster:
    """`ports.jobs.JobRoster`."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def active(self, limit: int) -> list[TenantJob]:
        """Name the jobs that workers may take up, oldest first."""
        begun = self._in((JobState.PROCESSING, JobState.FINALIZING))
        taken = [job for job in begun if job.state is JobState.PROCESSING or not job.collection]
        return [(job.tenant, job.id) for job in taken][: max(0, limit)]

    async def waiting(self, limit: int) -> list[TenantJob]:
        """Name the service's jobs that have not come to their first page, oldest first."""
        places: Counter[str] = Counter()
        in_turn: list[tuple[int, TenantJob]] = []
        for job in self._in(_WAITING):
            if job.collection:
                places[job.tenant] += 1
                in_turn.append((places[job.tenant], (job.tenant, job.id)))
        in_turn.sort(key=lambda one: one[0])
        return [own for _, own in in_turn][: max(0, limit)]

    async def finalizing(self, limit: int) -> list[TenantJob]:
        """Name the service's jobs that have nothing left to fetch and are not finished."""
        own = [job for job in self._in((JobState.FINALIZING,)) if job.collection]
        return [(job.tenant, job.id) for job in own][: max(0, limit)]

    async def watched(self, *, wall_s: float, limit: int, is_served: bool) -> list[TenantJob]:
        """Name the watched crawls that are over and to be looked at, the longest due first."""
        due = [
            (job.next_look_s, job.tenant, job.id)
            for job in (book.job for book in self._world.books.values())
            if job.is_watched
            and job.state is JobState.COMPLETED
            and not job.expired
            and bool(job.collection) is is_served
            and job.next_look_s is not None
            and job.next_look_s <= wall_s
        ]
        due.sort(key=lambda one: one[0])
        return [(tenant, job) for _, tenant, job in due][: max(0, limit)]

    async def tenant_of(self, job: str) -> str | None:
        """Return whose a job is."""
        book = self._world.books.get(job)
        return book.job.tenant if book else None

    async def tenants(self) -> list[str]:
        """Name everybody who has a job."""
        return sorted({book.job.tenant for book in self._world.books.values()})

    def _in(self, states: Collection[JobState]) -> list[CrawlJob]:
        """Return the jobs in some states, the oldest first."""
        jobs = (book.job for book in self._world.books.values() if book.is_active)
        return sorted(
            (job for job in jobs if job.state in states), key=lambda one: one.created_at_s
        )
