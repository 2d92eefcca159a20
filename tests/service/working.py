"""The parts of a service, each set to work by hand: who begins, crawls, understands and tells."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from geomi.app.use.crawl import JobToRun, run_job
from geomi.engine.visit.rules import read_job_rules
from geomi.model.job import CrawlJob
from geomi.service.crawling.crawls import begin_waiting
from geomi.service.enrichment import enrich_for_all
from geomi.service.service import Service, TenantService
from geomi.settings.options import RunOptions
from tests.api.asking import Ground, Json

Claim = Callable[[], Awaitable[bool]]
LONGEST_S = 20.0


async def until(claim: Claim) -> None:
    """Wait until something is so."""
    async with asyncio.timeout(LONGEST_S):
        while not await claim():  # noqa: ASYNC110  # a store, or a process, tells nobody
            await asyncio.sleep(0.01)


async def crawled(desk: TenantService, job_id: str) -> CrawlJob:
    """Let a crawl begin as it would, and fetch all that it wants; nothing is understood yet."""
    await begin_waiting(desk.service)
    job = await desk.world.store.jobs.get(job_id)
    assert job is not None
    if job.state.is_final:
        return job
    rules = await read_job_rules(desk.world, job.config, job.seeds)
    return (await run_job(desk.home, JobToRun(job, rules), RunOptions(format=()))).job


async def understood(service: Service, is_done: Claim) -> None:
    """Let whoever understands work until something is so."""
    leave = asyncio.Event()

    async def watch() -> None:
        await until(is_done)
        leave.set()

    async with asyncio.TaskGroup() as group:
        group.create_task(watch(), name="watch")
        group.create_task(enrich_for_all(service.home, leave), name="understand")


async def carried_out(ground: Ground, path: str, asked: Mapping[str, object]) -> Json:
    """Start a crawl by a whole path, let it be done, and return it at its end."""
    client = ground.mine.without_prefix()
    made = await client.post(path, asked)
    assert made.status == 202, made.json
    job_id = made.json["jobId"]
    await crawled(ground.desk, job_id)
    await understood(ground.service, lambda: is_over(ground.desk, job_id))
    return (await client.get(f"{path}/{job_id}")).json


async def is_over(desk: TenantService, job_id: str) -> bool:
    """Say whether a job has come to its end."""
    job = await desk.world.store.jobs.get(job_id)
    return job is not None and job.state.is_final
