"""Searching a tenant's documents, and why a URL of a crawl is among them or not."""

from __future__ import annotations

from geomi.app import registry
from geomi.engine.enrich.search import search as ask
from geomi.engine.inspect.why import Explanation
from geomi.engine.inspect.why import explain as explain_url
from geomi.engine.jobs import read_seeds
from geomi.model.index.search import Filters, SearchResults
from geomi.service import crawls
from geomi.service.open import Desk
from geomi.service.orders import naming

MAX_QUERY_CHARS = 1000


async def search(desk: Desk, query: str, filters: Filters, *, limit: int) -> SearchResults:
    """Answer a query over what can be found now; whoever enriches is at it beside."""
    shelf = await desk.shelf()
    return await ask(shelf.index, query, filters=filters, limit=limit, embedder=shelf.embedder)


async def explain(desk: Desk, job_id: str, url: str) -> Explanation:
    """Say why a URL of a crawl was, or was not, collected."""
    job = await crawls.find(desk, job_id)
    with naming("url"):
        (asked,) = read_seeds([url])
    return await explain_url(desk.world, job, asked, await registry.read_site_decisions(desk.world))
