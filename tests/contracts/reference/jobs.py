"""The jobs of one tenant; another tenant's job is one that is not there."""

from __future__ import annotations

import builtins
from collections import Counter
from dataclasses import replace

from geomi.adapters.store.tables.jobs import check_new, gone_on_too_late, listed_jobs, meant_columns
from geomi.errors import StoreError
from geomi.model.job import (
    BEGUN,
    MAX_NOTE_CHARS,
    CrawlJob,
    CrawlStats,
    JobBatch,
    JobFilter,
    JobKind,
    JobState,
)
from tests.contracts.reference.journal import write_step
from tests.contracts.reference.world import Book, World


class MemoryJobs:
    """`ports.store.Jobs` of one tenant."""

    def __init__(self, world: World, tenant: str) -> None:
        self._world = world
        self._tenant = tenant

    async def create(self, job: CrawlJob) -> None:
        """Keep a new job."""
        check_new(job, self._tenant)
        if job.id in self._world.books:
            raise StoreError(f"there is a job `{job.id}` already")
        book = self._world.books[job.id] = Book(replace(job, stats=CrawlStats(), batch=JobBatch()))
        write_step(self._world, book, None, wall_s=job.created_at_s)

    async def get(self, job: str) -> CrawlJob | None:
        """Find a job with its counters."""
        book = self._world.find_book(job, self._tenant)
        return book.job if book else None

    async def list(self, *, limit: int) -> builtins.list[CrawlJob]:
        """List jobs, newest first."""
        own = self._own()
        own.reverse()  # among jobs of one moment the one created last is the newest
        return sorted(own, key=lambda job: -job.created_at_s)[:limit]

    async def page(
        self, which: JobFilter, *, before: str = "", limit: int
    ) -> builtins.list[CrawlJob]:
        """List jobs by their ids, newest first."""
        meant = meant_columns(which).items()
        found = [
            job
            for job in self._own()
            if (not before or job.id < before)
            and all(getattr(job, column) == value for column, value in meant)
        ]
        return sorted(found, key=lambda job: job.id, reverse=True)[: listed_jobs(limit)]

    async def counts(self) -> dict[JobState, int]:
        """Count jobs by state."""
        return dict(Counter(job.state for job in self._own()))

    async def begin(self, job: str, *, most: int, wall_s: float) -> bool:
        """Let a job that is pending begin, where fewer than `most` of its tenant's have begun."""
        book = self._world.find_book(job, self._tenant)
        if book is None or book.job.state is not JobState.PENDING or not book.is_active:
            return False
        if book.job.expired or (most and sum(one.state in BEGUN for one in self._own()) >= most):
            return False
        started_at_s = wall_s if book.job.started_at_s is None else book.job.started_at_s
        before = book.job
        book.job = replace(before, state=JobState.INITIALIZING, started_at_s=started_at_s)
        write_step(self._world, book, before, wall_s=wall_s)
        return True

    async def update(self, job: CrawlJob, *, wall_s: float | None = None) -> None:
        """Write config, state, flags, times, stop reason and error."""
        book = self._world.book(job.id, self._tenant)
        if book.job.expired and not job.state.is_final:
            raise gone_on_too_late(job)
        before = book.job
        book.job = replace(
            before,
            config=job.config,
            origins=job.origins,
            state=job.state,
            paused=job.paused,
            started_at_s=job.started_at_s,
            ended_at_s=job.ended_at_s,
            stop=job.stop,
            error=job.error,
        )
        write_step(self._world, book, before, wall_s=wall_s)

    async def turn(
        self,
        job: CrawlJob,
        *,
        was: JobState,
        only_empty: bool = False,
        most: int = 0,
        wall_s: float | None = None,
    ) -> bool:
        """Write state, times, stop reason and error of a job that is in the state `was`."""
        book = self._world.book(job.id, self._tenant)
        waits = only_empty and any(queue.pending for queue in book.queues.values())
        is_too_late = book.job.expired and not job.state.is_final
        if book.job.state is not was or waits or is_too_late or not self._has_place(most):
            return False
        before = book.job
        book.job = replace(
            before,
            state=job.state,
            started_at_s=job.started_at_s,
            ended_at_s=job.ended_at_s,
            stop=job.stop,
            error=job.error,
        )
        write_step(self._world, book, before, wall_s=wall_s)
        return True

    async def turn_batch(self, job: str, batch: JobBatch, *, was: int) -> bool:
        """Begin a batch after the one of the number `was`."""
        book = self._world.find_book(job, self._tenant)
        if book is None or book.job.batch.number != was:
            return False
        book.job = replace(book.job, batch=batch)
        return True

    async def look_again(self, job: str, at_s: float | None, note: str = "") -> None:
        """Say when a watched crawl is looked at again, and what keeps its pages from a visit."""
        book = self._world.find_book(job, self._tenant)
        if book is not None:
            note = note[:MAX_NOTE_CHARS]
            book.job = replace(book.job, next_look_s=at_s, watch_note=note)

    async def successor(self, job: str) -> str:
        """Name the newest crawl that has taken the place of a crawl; empty if none has."""
        own = self._own()
        place = next((number for number, one in enumerate(own) if one.id == job), len(own))
        same = [
            one.id
            for one in own[place + 1 :]
            if one.kind is JobKind.CRAWL
            and one.state is JobState.COMPLETED
            and (one.seeds, one.collection) == (own[place].seeds, own[place].collection)
        ]
        return same[-1] if same else ""

    async def worked(self, job: str, seconds: float) -> None:
        """Add seconds of work to a job, beside whatever else changes it."""
        book = self._world.book(job, self._tenant)
        book.job = replace(book.job, active_s=book.job.active_s + seconds)

    async def delete(self, job: str) -> None:
        """Forget a job, its entries, its captures, its documents and its journal."""
        book = self._world.book(job, self._tenant)
        del self._world.books[job]
        for event in book.events:
            self._world.untold.pop((job, event.n), None)
        self._world.forget_documents(self._tenant, lambda row: row.job == job)

    def _own(self) -> builtins.list[CrawlJob]:
        jobs = (book.job for book in self._world.books.values())
        return [job for job in jobs if job.tenant == self._tenant]

    def _has_place(self, most: int) -> bool:
        return not most or sum(one.state in BEGUN for one in self._own()) < most
