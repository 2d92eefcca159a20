"""A worker that joins a store and serves its jobs, whoever started them and wherever."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from functools import partial

from geomi.app import registry
from geomi.app.clean import clean_on
from geomi.app.home import Home
from geomi.app.plan import check_identity
from geomi.app.recover import recover, sent
from geomi.app.run import serves, worker_for
from geomi.engine import jobs
from geomi.engine.crawl import Worker
from geomi.engine.heart import beating
from geomi.engine.shift import Shift
from geomi.model.job import CrawlJob
from geomi.model.worker import Role

# A worker among many looks for hosts less often than one that is alone with its crawl.
LONGEST_POLL_S = 2.0


CONCURRENCY = 32


@dataclass(frozen=True, slots=True)
class Task:
    """What a worker is there for.

    Args:
        job: the one job to serve; empty for every job.
        once: end when none has work left.
        concurrency: requests at once, over all jobs.
    """

    job: str = ""
    once: bool = False
    concurrency: int = CONCURRENCY


async def serve(
    home: Home, task: Task, *, on_start: Callable[[Shift], None] = lambda _: None
) -> None:
    """Serve the jobs of a store until drained."""
    await recover(home)
    world = home.world
    only = (await jobs.find(world, task.job)).id if task.job else ""
    shift = Shift(
        world,
        home.heart,
        partial(_hire, home),
        partial(sent, home),
        concurrency=task.concurrency,
        only=only,
    )
    await home.heart.enrol(Role.WORKER)
    on_start(shift)
    await beating(home.heart, _beside(clean_on(home), shift.run(once=task.once)))


async def _beside(chores: Coroutine[None, None, None], work: Coroutine[None, None, None]) -> None:
    """Do chores for as long as the work takes."""
    async with asyncio.TaskGroup() as group:
        cleaning = group.create_task(chores, name="clean")
        await work
        cleaning.cancel()


async def _hire(home: Home, job: CrawlJob) -> Worker:
    serves(home, job)
    check_identity(job.config)
    await registry.refuse_crawl(home.world, job.provider)
    worker = worker_for(home, job, workers=1, reviews=await registry.reviews(home.world))
    worker.longest_poll_s = LONGEST_POLL_S
    return worker
