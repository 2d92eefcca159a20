"""The three operations of a knowledge base: add a page, add a sitemap, bring all up to date."""

from __future__ import annotations

from geomi.errors import WrongState
from geomi.model.job import CrawlJob, JobFilter
from geomi.service import collections, crawls
from geomi.service.open import Desk
from geomi.service.orders import CrawlOrder, naming
from geomi.url.parse import parse as parse_url

# A page alone, wherever its path leads: somebody asked for just this one.
_ONE_PAGE = {
    "limits.max_pages": 1,
    "limits.max_depth": 0,
    "scope.sitemaps": False,
    "scope.block_defaults": False,
}
MAX_SYNCED = 100  # crawls of one collection that are begun anew at once


async def add_url(desk: Desk, collection: str, url: str) -> CrawlJob:
    """Start a crawl of one page."""
    with naming("url"):
        return await crawls.start(
            desk, CrawlOrder(collection, (url,), settings=_ONE_PAGE, is_ours=True)
        )


async def add_sitemap(desk: Desk, collection: str, url: str, *, max_pages: int) -> CrawlJob:
    """Start a crawl of the pages that a sitemap lists, and of its site's front page."""
    parsed = parse_url(url)
    front = f"{parsed.scheme}://{parsed.authority}/" if parsed else url
    settings = {"limits.max_pages": max_pages, "limits.max_depth": 1}
    order = CrawlOrder(collection, (front,), sitemaps=(url,), settings=settings)
    return await crawls.start(desk, order)


async def sync(desk: Desk, collection: str) -> list[CrawlJob]:
    """Crawl again whatever filled a collection; pages that have not changed are not fetched anew.

    Of several crawls from the same seeds the newest counts; one that is still going on is left.
    """
    await collections.find(desk, collection)
    newest: dict[tuple[str, ...], CrawlJob] = {}
    before = ""
    while len(newest) < MAX_SYNCED:
        found = await crawls.page(desk, JobFilter(collection), before=before, limit=100)
        if not found:
            break
        for job in found:
            newest.setdefault(job.seeds, job)
        before = found[-1].id
    over = [job for job in newest.values() if job.state.is_final][:MAX_SYNCED]
    if not over:
        raise WrongState(f"no crawl that is over has filled collection `{collection}`")
    return [await crawls.begin_anew(desk, job.id) for job in over]
