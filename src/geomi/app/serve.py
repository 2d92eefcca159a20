"""A worker that joins a store and serves its jobs, whoever started them and wherever."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from functools import partial

from geomi.app import registry
from geomi.app.clean import clean_on
from geomi.app.home import Home, Homes
from geomi.app.plan import check_identity
from geomi.app.recover import recover, sent
from geomi.app.run import serves, worker_for
from geomi.engine import jobs
from geomi.engine.worker.heartbeat import with_heartbeat
from geomi.engine.worker.job_pool import JobPool, JobWorker
from geomi.model.worker import WorkerRole

# A worker among many looks for hosts less often than one that is alone with its crawl.
LONGEST_POLL_S = 2.0


CONCURRENCY = 32
MEASURE_S = 5.0


@dataclass(frozen=True, slots=True)
class Task:
    """What a worker is there for.

    Args:
        job: the one job to serve; empty for every job.
        once: end when none has work left.
        concurrency: requests at once, over all jobs.
        measures: tell from time to time what the work takes.
    """

    job: str = ""
    once: bool = False
    concurrency: int = CONCURRENCY
    measures: bool = False


async def serve(
    home: Home, task: Task, *, on_start: Callable[[JobPool], None] = lambda _: None
) -> None:
    """Serve the jobs of a store until drained."""
    await recover(home)
    only = await _named(home, task.job) if task.job else ""
    homes = Homes(home)
    shift = JobPool(
        home.world,
        home.heart,
        partial(_hire, homes),
        lambda job: sent(homes.of(job.tenant), job.id),
        concurrency=task.concurrency,
        only=only,
    )
    await home.heart.enrol(WorkerRole.WORKER)
    on_start(shift)
    chores = [clean_on(home), *([_tell_measures(home)] if task.measures else [])]
    await with_heartbeat(home.heart, _beside(chores, shift.run(once=task.once)))


async def _named(home: Home, job: str) -> str:
    """Return the id of a job: any tenant's by its whole id, our own by a part of it, too."""
    if await home.world.roster.tenant_of(job) is not None:
        return job
    return (await jobs.find(home.world, job)).id


async def _tell_measures(home: Home) -> None:
    while True:
        await asyncio.sleep(MEASURE_S)
        home.world.sink.emit(home.world.meter.take(""))


async def _beside(
    chores: Sequence[Coroutine[None, None, None]], work: Coroutine[None, None, None]
) -> None:
    """Do chores for as long as the work takes."""
    async with asyncio.TaskGroup() as group:
        doing = [group.create_task(chore, name="chore") for chore in chores]
        await work
        for chore in doing:
            chore.cancel()


async def _hire(homes: Homes, tenant: str, name: str) -> JobWorker | None:
    home = homes.of(tenant)
    job = await home.world.jobs.get(name)
    if job is None:
        return None
    serves(home, job)
    check_identity(job.config)
    await registry.refuse_crawl(home.world, job.provider)
    worker = worker_for(
        home, job, workers=1, reviews=await registry.read_site_decisions(home.world)
    )
    worker.longest_poll_s = LONGEST_POLL_S
    return JobWorker(home.world, job, worker)
