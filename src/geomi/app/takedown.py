"""A takedown: everything that was collected of a provider is erased at its request (LEG-06, G-20).

The order is what makes it safe to be cut short at any point and run again:

1. The provider is marked as forbidden, so that no crawl of it begins any more.
2. Its jobs are cancelled and locked, so that nobody writes their files.
3. Their files go: the store still names the jobs, so whatever is left is found again.
4. What can be found of them goes from the index.
5. The rows of their pages go, in one transaction with the line that says so.
6. The jobs' own rows go, and with them the last that refers to any of it.
7. The store's file is written anew: a deleted row's bytes would stay in its free pages.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from geomi.adapters.machine.presence import PresenceLock
from geomi.adapters.outlet.job_folder import remove_job
from geomi.app import registry
from geomi.app.home import Home
from geomi.app.run import is_running
from geomi.app.shelf import forget
from geomi.engine import jobs as use
from geomi.engine.visit.identity import UrlIdentity
from geomi.errors import ConfigError, StoreBusy
from geomi.model.index.search import IndexScope
from geomi.model.job import CrawlJob
from geomi.model.site import Provider, Takedown
from geomi.settings.network import same_archive
from geomi.url.parse import parse as parse_url

ENTRIES_PER_READ = 5000
MAX_REASON_CHARS = 2000
# A cancelled crawl lets requests in flight end, which takes a total timeout at most; that long
# nobody wants to wait here: the command can be given again.
LOOKS = 20
LOOK_S = 0.5


@dataclass(frozen=True, slots=True)
class Holdings:
    """What a data directory holds of a provider.

    Args:
        others: jobs that were not started for it but from its hosts; they are not erased.
    """

    provider: Provider
    jobs: tuple[CrawlJob, ...]
    others: tuple[str, ...]


async def holdings(home: Home, key: str, known: Provider | None = None) -> Holdings:
    """Find a provider's jobs, and those of others that began on its hosts.

    Args:
        known: the provider as somebody else knows it, for a tenant that does not.
    """
    provider = await home.world.providers.get(key) or known or await registry.find(home.world, key)
    hosts = _hosts(provider.seed_urls)
    every = await home.world.jobs.list(limit=registry.EVERY_JOB)
    others = (job.id for job in every if job.provider != key and _hosts(job.seeds) & hosts)
    return Holdings(provider, await registry.jobs_of(home.world, key), tuple(others))


async def take_down(home: Home, found: Holdings, reason: str) -> Takedown:
    """Erase a provider's data and return the line that is left; a second call only finishes."""
    if len(reason) > MAX_REASON_CHARS:
        raise ConfigError(f"the reason has more than {MAX_REASON_CHARS} characters")
    world, provider = home.world, found.provider
    earlier = [line for line in await world.providers.takedowns() if line.key == provider.key]
    at_s = world.clock.wall_s()
    today = datetime.fromtimestamp(at_s, UTC).date().isoformat()
    forbidden = replace(provider, tos_allows_crawling=False, tos_reviewed_at=today)
    await world.providers.put(forbidden)
    if earlier and not found.jobs:
        line = earlier[0]
    else:
        line = Takedown(provider.key, provider.name, reason, at_s, len(found.jobs), 0)
        line = await erase_jobs(home, found.jobs, line)
    if found.jobs or earlier:  # the file is everybody's: not once for each who has nothing in it
        await home.store.scrub()
    return line


def added_up(lines: Sequence[Takedown]) -> Takedown:
    """Return the newest of the lines of several tenants, with what went of all of them."""
    jobs, pages = sum(line.jobs for line in lines), sum(line.pages for line in lines)
    return replace(max(lines, key=lambda line: line.at_s), jobs=jobs, pages=pages)


async def erase_jobs(home: Home, jobs: Sequence[CrawlJob], line: Takedown) -> Takedown:
    """Erase whole jobs with all their pages; return the line that is left, with their number."""
    for job in jobs:
        same_archive(job, home.settings)
    with ExitStack() as held:
        for job in jobs:
            if not job.state.is_final:
                await use.cancel(home.world, job)
            held.enter_context(await locked(home, job))
        pages = await _pages(home, jobs)
        for job in jobs:
            await home.archive.erase(job.id)
            await home.world.spool.erase(job.id)
            await asyncio.to_thread(remove_job, home.root, job.id)
        await forget(home, IndexScope.JOB, [job.id for job in jobs])
        line = replace(line, pages=len(pages))
        await home.world.providers.erase(line, pages)
        for job in jobs:
            await home.world.jobs.delete(job.id)
    return line


async def locked(home: Home, job: CrawlJob) -> ExitStack:
    """Wait for a crawl that is ending, and keep others from going on with it."""
    stack = ExitStack()
    for _ in range(LOOKS):
        with suppress(StoreBusy):
            if not await is_running(home, job):
                stack.enter_context(PresenceLock(home.root, f"job-{job.id}"))
                return stack
        await asyncio.sleep(LOOK_S)
    raise StoreBusy(
        f"job {job.id} of tenant {job.tenant} has not ended yet; its data is still there",
        hint="give the same command again in a moment, or cancel the job first",
    )


async def _pages(home: Home, jobs: Sequence[CrawlJob]) -> list[bytes]:
    """List the tenant's pages whose newest copy came from one of these jobs."""
    folders = tuple(f"jobs/{job.id}/" for job in jobs)
    found: set[bytes] = set()
    for job in jobs:
        async for url_hash in _met(home, job):
            page = await home.world.pages.get(url_hash)
            if page is not None and page.record.segment.startswith(folders):
                found.add(url_hash)
    return sorted(found)


async def _met(home: Home, job: CrawlJob) -> AsyncIterator[bytes]:
    """Name what a job has met: its entries, or its captures where its entries have expired."""
    after, seq, naming = b"", 0, UrlIdentity(job.config)
    while entries := await home.world.census.entries(
        job.id, state=None, after=after, limit=ENTRIES_PER_READ
    ):
        for entry in entries:
            yield entry.url_hash
        after = entries[-1].url_hash
    while rows := await home.world.pages.feed(job.id, after=seq, limit=ENTRIES_PER_READ):
        for url in filter(None, (parse_url(row.url) for row in rows)):
            yield naming.hash(url)
        seq = rows[-1].seq


def _hosts(urls: Sequence[str]) -> set[str]:
    return {url.host for url in map(parse_url, urls) if url is not None}
