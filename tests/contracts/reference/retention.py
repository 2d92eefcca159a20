"""What of one tenant is kept for a time only, forgotten a little at a time."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from math import inf

from geomi.adapters.store.tables.jobs import DAY_S
from geomi.model.job import CrawlJob, Expired
from geomi.ports.jobs import RetentionStep
from tests.contracts.reference.world import Book, World

_GOING = (Expired.URLS_GOING, Expired.JOB_GOING)


class MemoryRetention:
    """`ports.jobs.JobRetention` of one tenant."""

    def __init__(self, world: World, tenant: str) -> None:
        self._world = world
        self._tenant = tenant

    async def due(self, *, wall_s: float, limit: int) -> list[tuple[str, Expired]]:
        """Name jobs that have something to lose, and what."""
        jobs = [book.job for book in self._world.books.values() if book.job.tenant == self._tenant]
        ends: dict[str, float] = {}
        for job in jobs:
            crawl = job.crawl or job.id
            ends[crawl] = max(_end_s(job), ends.get(crawl, 0.0))
        judged = ((job.id, _judge(job, ends[job.crawl or job.id], wall_s)) for job in jobs)
        return [(job, what) for job, what in judged if what][:limit]

    async def begin(self, job: str, what: Expired, *, wall_s: float) -> bool:
        """Write down that something is going; False where it is not due any more."""
        if (job, what) not in await self.due(wall_s=wall_s, limit=len(self._world.books)):
            return False
        book = self._world.book(job, self._tenant)
        book.job = replace(book.job, expired=what)
        return True

    async def forget_urls(self, job: str, *, limit: int) -> int:
        """Forget some URLs of a job that is going; 0 when all have gone."""
        book, left = self._going(job), limit
        while book and book.queues and left > 0:
            host, queue = next(iter(book.queues.items()))
            gone = list(islice(queue.entries, left))
            for url_hash in gone:
                del queue.entries[url_hash]
                queue.pending.pop(url_hash, None)
            if not queue.entries:
                del book.queues[host]
            left -= max(len(gone), 1)
        if book and not book.queues and book.job.expired is Expired.URLS_GOING and left > 0:
            book.job = replace(book.job, expired=Expired.URLS)
        return limit - left

    async def forget_pages(self, job: str, *, after: int, limit: int) -> RetentionStep:
        """Forget pages and histories whose newest copy is in a job that is going."""
        book, world = self._going(job), self._world
        captures = [(s, page) for s, page in book.captures.items() if s > after] if book else []
        count = 0
        for _, page in captures[:limit]:
            key = self._tenant, page.url_hash
            if key in world.pages and world.pages[key].record == page.record:
                del world.pages[key]
                world.histories.pop(key, None)
                world.versions.pop(key, None)
                count += 1
        return RetentionStep(captures[:limit][-1][0] if captures else 0, count)

    async def forget_captures(self, job: str, *, limit: int) -> int:
        """Forget some captures of a job that is going."""
        book = self._going(job)
        gone = list(islice(book.captures, limit)) if book else []
        for seq in gone:
            assert book is not None
            del book.captures[seq]
        return len(gone)

    async def forget_requests(self, job: str, *, after: int, limit: int) -> RetentionStep:
        """Look at the request log and forget what is of a job that is going; it is one stretch."""
        if self._going(job) is None:
            return RetentionStep(0, 0)
        gone = [key for key, one in self._world.requests.items() if one.job == job]
        for key in gone:
            del self._world.requests[key]
        return RetentionStep(0, len(gone))

    def _going(self, job: str) -> Book | None:
        """Return a job of which something is going; of no other is anything forgotten."""
        book = self._world.find_book(job, self._tenant)
        return book if book and book.job.expired in _GOING else None


def _end_s(job: CrawlJob) -> float:
    if not job.state.is_final:
        return inf
    return job.created_at_s if job.ended_at_s is None else job.ended_at_s


def _judge(job: CrawlJob, ended_s: float, wall_s: float) -> Expired:
    rules = job.config.retention
    age_days = (wall_s - ended_s) / DAY_S
    if job.expired is Expired.JOB_GOING or 0 < rules.jobs_days <= age_days:
        return Expired.JOB_GOING
    if job.expired is Expired.URLS_GOING:
        return Expired.URLS_GOING
    is_due = not job.expired and 0 < rules.urls_days <= age_days
    return Expired.URLS_GOING if is_due else Expired.NOTHING
