"""Erasing a site: everything that a tenant has collected of one host, whichever job it came with.

A job that has nothing else goes whole, as in a takedown. Of a job that has pages of other sites
only those of this one go; all others stay where they are. In an order that is safe to be cut short
at any point and run again:

1. The jobs are locked, so that nobody writes their files.
2. What can be found of the site goes from the index.
3. Its records and responses are written over in their places, and texts of it that wait to be
   indexed go. Outputs of the jobs are removed: they can be made again.
4. The rows of its pages, captures and documents go, in one transaction with the line that says so.
5. The outputs are written anew.
6. Jobs of this site alone go.
7. The store's file is written anew.

A site may be crawled again after that: who must never be, is a matter of `providers`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import ExitStack
from dataclasses import dataclass, replace

from geomi.app import outputs, registry
from geomi.app.home import Home
from geomi.app.shelf import forget
from geomi.app.takedown import MAX_REASON_CHARS, erase_jobs, locked
from geomi.engine.inspect.export import captures
from geomi.engine.visit.identity import UrlIdentity
from geomi.engine.visit.preview_text import SpooledTexts
from geomi.errors import ConfigError
from geomi.model.index.search import IndexScope
from geomi.model.job import CrawlJob
from geomi.model.page import CaptureRow, Ref
from geomi.model.site import Takedown
from geomi.settings.network import same_archive
from geomi.url.parse import Url
from geomi.url.parse import parse as parse_url


@dataclass(frozen=True, slots=True)
class SiteHoldings:
    """What a data directory holds of a site.

    Args:
        whole: jobs that have nothing else, and began there.
        parts: jobs that have pages of other sites, too.
        pages: how many captures all of them have of it.
    """

    site: str
    whole: tuple[CrawlJob, ...]
    parts: tuple[CrawlJob, ...]
    pages: int


async def of_site(home: Home, site: str) -> SiteHoldings:
    """Find the jobs that have collected pages of a host."""
    whole, parts, pages = list[CrawlJob](), list[CrawlJob](), 0
    for job in await home.world.jobs.list(limit=registry.EVERY_JOB):
        ours = others = 0
        async for _, url in _captures(home, job):
            ours, others = ours + (url.host == site), others + (url.host != site)
        is_its_own = all(url and url.host == site for url in map(parse_url, job.seeds))
        if is_its_own and not others:
            whole.append(job)
        elif ours:
            parts.append(job)
        pages += ours
    return SiteHoldings(site, tuple(whole), tuple(parts), pages)


async def erase_site(home: Home, found: SiteHoldings, reason: str) -> Takedown:
    """Erase what there is of a site and return the line that is left."""
    if len(reason) > MAX_REASON_CHARS:
        raise ConfigError(f"the reason has more than {MAX_REASON_CHARS} characters")
    at_s = home.world.clock.wall_s()
    line = Takedown(f"site {found.site}", found.site, reason, at_s, len(found.whole), 0)
    for job in (*found.whole, *found.parts):
        same_archive(job, home.settings)
    with ExitStack() as held:
        for job in found.parts:
            held.enter_context(await locked(home, job))
        await forget(home, IndexScope.SITE, [found.site])
        await _erase_parts(home, found, replace(line, pages=found.pages))
    if found.whole:
        await erase_jobs(home, found.whole, line)
    await home.store.scrub()
    return replace(line, pages=found.pages)


async def _erase_parts(home: Home, found: SiteHoldings, line: Takedown) -> None:
    hashes: set[bytes] = set()
    removed: dict[str, list[str]] = {}
    for job in found.parts:
        hashes |= await _blank(home, job, found.site)
        removed[job.id] = outputs.take_away(home, job)
    if found.parts:
        await home.world.providers.erase(line, sorted(hashes))
    for job in found.parts:
        await outputs.put_back(home, job, removed[job.id])


async def _blank(home: Home, job: CrawlJob, site: str) -> set[bytes]:
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


async def _captures(home: Home, job: CrawlJob) -> AsyncIterator[tuple[CaptureRow, Url]]:
    async for rows in captures(home.world.pages, job.id):
        for row in rows:
            if (url := parse_url(row.url)) is not None:
                yield row, url
