"""The jobs of one tenant; another tenant's job is one that is not there."""

from __future__ import annotations

import builtins
from dataclasses import replace

from geomi.adapters.ledger.job import gone_on_too_late
from geomi.adapters.memory.world import Book, World
from geomi.errors import StoreError
from geomi.model.job import CrawlJob, CrawlStats, JobState


class MemoryJobs:
    """`ports.store.Jobs` of one tenant."""

    def __init__(self, world: World, tenant: str) -> None:
        self._world = world
        self._tenant = tenant

    async def create(self, job: CrawlJob) -> None:
        """Keep a new job."""
        if job.tenant != self._tenant:
            raise StoreError(
                f"job `{job.id}` belongs to tenant `{job.tenant}`; "
                f"this store is open for `{self._tenant}`"
            )
        if job.id in self._world.books:
            raise StoreError(f"there is a job `{job.id}` already")
        self._world.books[job.id] = Book(replace(job, stats=CrawlStats()))

    async def get(self, job: str) -> CrawlJob | None:
        """Find a job with its counters."""
        book = self._world.find_book(job, self._tenant)
        return book.job if book else None

    async def list(self, *, limit: int) -> builtins.list[CrawlJob]:
        """List jobs, newest first."""
        own = [b.job for b in self._world.books.values() if b.job.tenant == self._tenant]
        own.reverse()  # among jobs of one moment the one created last is the newest
        return sorted(own, key=lambda job: -job.created_at_s)[:limit]

    async def update(self, job: CrawlJob) -> None:
        """Write config, state, flags, times, stop reason and error."""
        book = self._world.book(job.id, self._tenant)
        if book.job.expired and not job.state.is_final:
            raise gone_on_too_late(job)
        book.job = replace(
            book.job,
            config=job.config,
            state=job.state,
            paused=job.paused,
            started_at_s=job.started_at_s,
            ended_at_s=job.ended_at_s,
            stop=job.stop,
            error=job.error,
        )

    async def turn(self, job: CrawlJob, *, was: JobState, only_empty: bool = False) -> bool:
        """Write state, times, stop reason and error of a job that is in the state `was`."""
        book = self._world.book(job.id, self._tenant)
        waits = only_empty and any(queue.pending for queue in book.queues.values())
        is_too_late = book.job.expired and not job.state.is_final
        if book.job.state is not was or waits or is_too_late:
            return False
        book.job = replace(
            book.job,
            state=job.state,
            started_at_s=job.started_at_s,
            ended_at_s=job.ended_at_s,
            stop=job.stop,
            error=job.error,
        )
        return True

    async def active(self, *, limit: int) -> builtins.list[str]:
        """Name the jobs that have begun and are neither paused nor over, oldest first."""
        begun = (JobState.PROCESSING, JobState.FINALIZING)
        own = [b.job for b in self._world.books.values() if b.job.tenant == self._tenant]
        found = [job for job in own if job.state in begun and not job.paused]
        return [job.id for job in sorted(found, key=lambda job: job.created_at_s)][:limit]

    async def worked(self, job: str, seconds: float) -> None:
        """Add seconds of work to a job, beside whatever else changes it."""
        book = self._world.book(job, self._tenant)
        book.job = replace(book.job, active_s=book.job.active_s + seconds)

    async def delete(self, job: str) -> None:
        """Forget a job, its entries, its captures and its documents."""
        del self._world.books[self._world.book(job, self._tenant).job.id]
        self._world.forget_documents(self._tenant, lambda row: row.job == job)
