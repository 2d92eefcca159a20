"""A collection with something in it: a real crawl of a site on loopback, and what it left."""

from __future__ import annotations

from geomi.app.index import open_search_index, update_index
from geomi.app.use.crawl import JobToRun, run_job, start_drafted
from geomi.engine import jobs
from geomi.engine.visit.rules import read_job_rules
from geomi.model.job import CrawlJob
from geomi.service.service import TenantService
from geomi.settings.options import RunOptions
from tests.api.asking import Client, Json
from tests.support.crawl import page
from tests.support.server import Reply, Site

FERRY = "The ferry leaves at noon and returns before the night."
WEB: dict[str, Reply] = {
    "/": page("start", "/car", "/boat", "/gone", text="A village by the sea. " * 12),
    "/car": page("car", text="The automobile of the doctor stands behind the church. " * 6),
    "/boat": page("boat", text=f"{FERRY} " * 6),
    "/sitemap.xml": Reply(b"<urlset/>", content_type="application/xml"),
}
EAGER = {"qualityThreshold": 0, "delayBetweenRequests": 0, "requestsPerSecond": 5}


async def started(client: Client, site: Site, collection: str = "village") -> Json:
    """Start a crawl of the village."""
    answer = await client.post(
        "/crawls", {"collectionId": collection, "seedUrls": [site.url("/")], "config": EAGER}
    )
    assert answer.status == 202, answer.json
    return answer.json


async def worked_off(desk: TenantService, job_id: str) -> CrawlJob:
    """Let a crawl that waits be done, as whoever dispatches, crawls and understands would."""
    world = desk.world
    assert await world.store.jobs.begin(job_id, most=0, wall_s=desk.wall_s)
    job = await world.store.jobs.get(job_id)
    assert job is not None
    job = await start_drafted(desk.home, job)
    rules = await read_job_rules(world, job.config, job.seeds)
    report = await run_job(desk.home, JobToRun(job, rules), RunOptions(format=()))
    async with open_search_index(desk.home) as search_index:
        await update_index(desk.home, search_index)
    return await jobs.complete(world, report.job)


async def filled(
    client: Client, desk: TenantService, site: Site, collection: str = "village"
) -> str:
    """Crawl the village into a collection; return the crawl's id."""
    job_id = (await started(client, site, collection))["jobId"]
    await worked_off(desk, job_id)
    return str(job_id)
