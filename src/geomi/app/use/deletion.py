"""Delete a job, take down a provider, or erase a site, at a person's request (LEG-06, G-20).

`delete_job` deletes one finished job: its bytes, its index entries, its rows, then its files.

`take_down_provider` erases everything that geomi collected of a provider. If it is interrupted, run
it again:

1. The provider is marked as forbidden, so that no crawl of it begins.
2. Its jobs are cancelled and locked, so that nobody writes their files.
3. Their files are deleted: the store still names the jobs, so that the rest is found again.
4. Their entries in the index are deleted.
5. The rows of their pages are deleted, in one transaction with the line that records it.
6. The rows of the jobs are deleted.
7. The store's file is rewritten: the bytes of deleted rows would stay in its free pages.

`erase_site` erases what one tenant has of one host, in all jobs. A job without other pages is
erased as a whole. In other jobs the site's records and responses are overwritten in place, and the
outputs are deleted first and written again afterwards. The site may be crawled again; `providers`
says which providers may not.
"""

from __future__ import annotations

import asyncio
import re
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from geomi.adapters.machine.presence import PresenceLock
from geomi.adapters.outlet.job_folder import remove_job
from geomi.app.directory import DataDirectory
from geomi.app.index import delete_from_index
from geomi.app.use import outputs, providers, sign_in
from geomi.app.use.crawl import is_running
from geomi.engine import jobs as use
from geomi.engine.inspect.export import captures
from geomi.engine.visit.identity import UrlIdentity
from geomi.engine.visit.preview_text import SpooledTexts
from geomi.errors import ConfigError, StoreBusy, WrongState
from geomi.model.index.search import IndexScope
from geomi.model.job import CrawlJob
from geomi.model.page import CaptureRow, Ref
from geomi.model.site import Provider, Takedown
from geomi.settings.compliance import same_archive
from geomi.url.host import file_name
from geomi.url.parse import Url
from geomi.url.parse import parse as parse_url

ENTRIES_PER_READ = 5000
MAX_REASON_CHARS = 2000
# A cancelled crawl lets requests in flight end, which takes a total timeout at most; that long
# nobody wants to wait here: the command can be given again.
LOOKS = 20
LOOK_S = 0.5


def refuse_unfinished(job: CrawlJob) -> None:
    """Raise for a job that is not over: a worker may use it."""
    if not job.state.is_final:
        raise WrongState(
            f"job {job.id} is {job.state}; only one that is over can be deleted",
            hint=f"geomi jobs cancel {job.id}",
        )


async def delete_job(home: DataDirectory, job: CrawlJob) -> None:
    """Forget a job that is over, and remove its files."""
    refuse_unfinished(job)
    same_archive(job, home.settings)
    if await is_running(home, job):
        raise StoreBusy(f"a worker still uses job {job.id}", hint="try again in some seconds")
    await home.archive.erase(job.id)  # first: nothing else names what is in a bucket
    await home.world.spool.erase(job.id)
    await delete_from_index(home, IndexScope.JOB, [job.id])
    await home.world.store.jobs.delete(job.id)
    await asyncio.to_thread(remove_job, home.root, job.id)


@dataclass(frozen=True, slots=True)
class ProviderHoldings:
    """What a data directory holds of a provider.

    Args:
        others: jobs that were not started for it but from its hosts; they are not erased.
    """

    provider: Provider
    jobs: tuple[CrawlJob, ...]
    others: tuple[str, ...]


async def provider_holdings(
    home: DataDirectory, key: str, known: Provider | None = None
) -> ProviderHoldings:
    """Find a provider's jobs, and other jobs with seeds on its hosts.

    Args:
        known: the provider's registration at another tenant, for a tenant without one.
    """
    provider = (
        await home.world.store.providers.get(key) or known or await providers.find(home.world, key)
    )
    hosts = _hosts(provider.seed_urls)
    every = await home.world.store.jobs.list(limit=providers.EVERY_JOB)
    others = (job.id for job in every if job.provider != key and _hosts(job.seeds) & hosts)
    return ProviderHoldings(provider, await providers.jobs_of(home.world, key), tuple(others))


async def take_down_provider(home: DataDirectory, found: ProviderHoldings, reason: str) -> Takedown:
    """Erase a provider's data and return the line that is left; a second call only finishes."""
    if len(reason) > MAX_REASON_CHARS:
        raise ConfigError(f"the reason has more than {MAX_REASON_CHARS} characters")
    world, provider = home.world, found.provider
    earlier = [line for line in await world.store.providers.takedowns() if line.key == provider.key]
    at_s = world.clock.wall_s()
    today = datetime.fromtimestamp(at_s, UTC).date().isoformat()
    forbidden = replace(provider, tos_allows_crawling=False, tos_reviewed_at=today)
    await world.store.providers.put(forbidden)
    for host in sorted(_hosts(provider.seed_urls)):
        await sign_in.forget_site(home, host)
    if earlier and not found.jobs:
        line = earlier[0]
    else:
        line = Takedown(provider.key, provider.name, reason, at_s, len(found.jobs), 0)
        line = await erase_jobs(home, found.jobs, line)
    if found.jobs or earlier:  # the file is everybody's: not once for each who has nothing in it
        await home.store.scrub()
    return line


def sum_takedowns(lines: Sequence[Takedown]) -> Takedown:
    """Return the newest of the lines of several tenants, with what went of all of them."""
    jobs, pages = sum(line.jobs for line in lines), sum(line.pages for line in lines)
    return replace(max(lines, key=lambda line: line.at_s), jobs=jobs, pages=pages)


async def erase_jobs(home: DataDirectory, jobs: Sequence[CrawlJob], line: Takedown) -> Takedown:
    """Erase whole jobs with all their pages; return the line that is left, with their number."""
    for job in jobs:
        same_archive(job, home.settings)
    with ExitStack() as held:
        for job in jobs:
            if not job.state.is_final:
                await use.cancel(home.world, job)
            held.enter_context(await lock_job(home, job))
        pages = await _pages(home, jobs)
        for job in jobs:
            await home.archive.erase(job.id)
            await home.world.spool.erase(job.id)
            await asyncio.to_thread(remove_job, home.root, job.id)
        await delete_from_index(home, IndexScope.JOB, [job.id for job in jobs])
        line = replace(line, pages=len(pages))
        await home.world.store.providers.erase(line, pages)
        for job in jobs:
            await home.world.store.jobs.delete(job.id)
    return line


async def lock_job(home: DataDirectory, job: CrawlJob) -> ExitStack:
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
        hint="run the same command again in a moment, or cancel the job first",
    )


async def _pages(home: DataDirectory, jobs: Sequence[CrawlJob]) -> list[bytes]:
    """List the tenant's pages whose newest copy came from one of these jobs."""
    folders = tuple(f"jobs/{job.id}/" for job in jobs)
    found: set[bytes] = set()
    for job in jobs:
        async for url_hash in _url_hashes(home, job):
            page = await home.world.store.pages.get(url_hash)
            if page is not None and page.record.segment.startswith(folders):
                found.add(url_hash)
    return sorted(found)


async def _url_hashes(home: DataDirectory, job: CrawlJob) -> AsyncIterator[bytes]:
    """Name what a job has met: its entries, or its captures where its entries have expired."""
    after, seq, naming = b"", 0, UrlIdentity(job.config)
    while entries := await home.world.store.census.entries(
        job.id, state=None, after=after, limit=ENTRIES_PER_READ
    ):
        for entry in entries:
            yield entry.url_hash
        after = entries[-1].url_hash
    while rows := await home.world.store.pages.feed(job.id, after=seq, limit=ENTRIES_PER_READ):
        for url in filter(None, (parse_url(row.url) for row in rows)):
            yield naming.hash(url)
        seq = rows[-1].seq


def _hosts(urls: Sequence[str]) -> set[str]:
    return {url.host for url in map(parse_url, urls) if url is not None}


@dataclass(frozen=True, slots=True)
class SiteHoldings:
    """What a data directory holds of a site.

    Args:
        whole: jobs that have nothing else, and began there.
        parts: jobs that have pages of other sites, too.
        pages: how many captures all of them have of it.
        origins: those that geomi signs in to.
    """

    site: str
    whole: tuple[CrawlJob, ...]
    parts: tuple[CrawlJob, ...]
    pages: int
    origins: tuple[str, ...] = ()


async def site_holdings(home: DataDirectory, site: str) -> SiteHoldings:
    """Find the jobs that have collected pages of a host."""
    whole, parts, pages = list[CrawlJob](), list[CrawlJob](), 0
    for job in await home.world.store.jobs.list(limit=providers.EVERY_JOB):
        ours = others = 0
        async for _, url in _captures(home, job):
            ours, others = ours + (url.host == site), others + (url.host != site)
        maps = await _sitemaps(home, job, site)
        is_its_own = all(url and url.host == site for url in map(parse_url, job.seeds))
        if is_its_own and not others:
            whole.append(job)
        elif ours or maps:
            parts.append(job)
        pages += ours
    origins = await sign_in.origins_of_site(home, site)
    return SiteHoldings(site, tuple(whole), tuple(parts), pages, tuple(origins))


async def erase_site(home: DataDirectory, found: SiteHoldings, reason: str) -> Takedown:
    """Erase what there is of a site and return the line that is left."""
    if len(reason) > MAX_REASON_CHARS:
        raise ConfigError(f"the reason has more than {MAX_REASON_CHARS} characters")
    at_s = home.world.clock.wall_s()
    line = Takedown(f"site {found.site}", found.site, reason, at_s, len(found.whole), 0)
    await sign_in.forget_site(home, found.site)
    for job in (*found.whole, *found.parts):
        same_archive(job, home.settings)
    with ExitStack() as held:
        for job in found.parts:
            held.enter_context(await lock_job(home, job))
        await delete_from_index(home, IndexScope.SITE, [found.site])
        await _erase_parts(home, found, replace(line, pages=found.pages))
    if found.whole:
        await erase_jobs(home, found.whole, line)
    await home.store.scrub()
    return replace(line, pages=found.pages)


async def _erase_parts(home: DataDirectory, found: SiteHoldings, line: Takedown) -> None:
    hashes: set[bytes] = set()
    removed: dict[str, list[str]] = {}
    for job in found.parts:
        await home.archive.sitemaps.drop(job.id, await _sitemaps(home, job, found.site))
        hashes |= await _overwrite(home, job, found.site)
        removed[job.id] = outputs.remove_outputs(home, job)
    if found.parts:
        await home.world.store.providers.erase(line, sorted(hashes))
    for job in found.parts:
        await outputs.rebuild_outputs(home, job, removed[job.id])


async def _overwrite(home: DataDirectory, job: CrawlJob, site: str) -> set[bytes]:
    """Put nothing in the place of a site's bytes; return the hashes of its URLs."""
    naming, desk = UrlIdentity(job.config), SpooledTexts(home.world, job)
    places: dict[str, list[Ref]] = defaultdict(list)
    hashes: set[bytes] = set()
    async for row, url in _captures(home, job):
        if url.host != site:
            continue
        hashes.add(naming.hash(url))
        if job.config.store.is_preview:
            await desk.clear([(row, await home.archive.read(row.record))])
        for place in filter(None, (row.record, row.response)):
            places[place.segment].append(place)
    for segment, erased in places.items():
        await home.archive.blank(segment, erased, wall_s=home.world.clock.wall_s())
    return hashes


async def _sitemaps(home: DataDirectory, job: CrawlJob, site: str) -> list[str]:
    """Name the sitemaps of a host, on whatever port, that are kept of a job."""
    own = re.compile(re.escape(file_name(site)) + r"(?:_[0-9]{1,5})?/")
    return [name for name in await home.archive.sitemaps.sizes(job.id) if own.match(name)]


async def _captures(home: DataDirectory, job: CrawlJob) -> AsyncIterator[tuple[CaptureRow, Url]]:
    async for rows in captures(home.world.store.pages, job.id):
        for row in rows:
            if (url := parse_url(row.url)) is not None:
                yield row, url
