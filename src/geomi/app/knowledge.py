"""A job's pages in the layout of a knowledge base, written one by one as they are read."""

from __future__ import annotations

from http import HTTPStatus
from pathlib import Path

from geomi.adapters.outlet.knowledge_base import KnowledgeTree
from geomi.app.home import Home
from geomi.engine.inspect.export import archived_pages, robots_of
from geomi.engine.visit.identity import UrlIdentity
from geomi.model.job import CrawlJob
from geomi.url.parse import Url
from geomi.url.parse import parse as parse_url

# Sites whose robots.txt is known to be written; a file that is written again is the same file.
REMEMBERED_SITES = 10_000


async def write_knowledge(home: Home, job: CrawlJob, folder: Path) -> int:
    """Write every committed page of a job, and its sites' robots.txt; return how many pages."""
    tree = KnowledgeTree(folder, tenant=job.tenant, job=job.id)
    naming = UrlIdentity(job.config)
    sites: set[tuple[str, str]] = set()
    count = 0
    async for page in archived_pages(home.world, job.id):
        url = parse_url(page.url)
        tree.write_page(naming.key(url) if url else page.url, page.record, page.response)
        count += 1
        if url is not None and (url.scheme, url.authority) not in sites:
            if len(sites) >= REMEMBERED_SITES:
                sites.clear()
            sites.add((url.scheme, url.authority))
            await _write_robots(home, job, url, tree)
    return count


async def _write_robots(home: Home, job: CrawlJob, url: Url, tree: KnowledgeTree) -> None:
    """Write a site's robots.txt, where there is one: no file stands for an answer without it."""
    copy = await robots_of(home.world, job, url)
    if copy is not None and copy.failure is None and copy.status == HTTPStatus.OK:
        tree.write_robots(url.scheme, url.authority, copy.body)
