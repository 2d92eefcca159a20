"""Crawl in a worker process: all jobs of a store, or the one job of an order.

`serve_jobs` joins a store and works on all its jobs: `geomi worker`, the service and a fleet run
it. `live` is a worker of one crawl, which `geomi crawl` forks or starts as `python -m
geomi.processes.crawl DESCRIPTOR`. Its order comes through that pipe; its events and its result go
back the same way (`adapters/machine/processes.py` is the other end).
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection

from geomi.adapters.machine.processes import (
    PipeSink,
    carry_out,
    relax_garbage_collector,
    stop_on_signal,
)
from geomi.app import WorkerOrder, open_directory
from geomi.app.directory import DataDirectory, TenantDirectories
from geomi.app.recovery import check_sent, recover
from geomi.app.use import providers
from geomi.app.use.crawl import check_identity, refuse_unservable, worker_for
from geomi.app.use.domain_lists import keep_fresh, kept_fresh
from geomi.app.use.retention import clean_periodically
from geomi.engine import jobs
from geomi.engine.visit.rules import read_job_rules
from geomi.engine.worker.heartbeat import with_heartbeat
from geomi.engine.worker.job_pool import JobPool, JobWorker
from geomi.model.job import StopReason
from geomi.model.worker import WorkerRole

# A worker among many looks for hosts less often than one that is alone with its crawl.
LONGEST_POLL_S = 2.0
CONCURRENCY = 32
MEASURE_S = 5.0


@dataclass(frozen=True, slots=True)
class WorkerTask:
    """The task of a worker.

    Args:
        job: the only job to crawl; empty for every job.
        once: end when none has work left.
        concurrency: requests at once, over all jobs.
        measures: emit `measured` events.
    """

    job: str = ""
    once: bool = False
    concurrency: int = CONCURRENCY
    measures: bool = False


async def serve_jobs(
    home: DataDirectory, task: WorkerTask, *, on_start: Callable[[JobPool], None] = lambda _: None
) -> None:
    """Serve the jobs of a store until drained."""
    await recover(home)
    only = await _job_named(home, task.job) if task.job else ""
    homes = TenantDirectories(home)
    pool = JobPool(
        home.world,
        home.heart,
        partial(_hire, homes),
        lambda job: check_sent(homes.of(job.tenant), job.id),
        concurrency=task.concurrency,
        only=only,
    )
    await home.heart.enrol(WorkerRole.WORKER)
    on_start(pool)
    chores = [
        clean_periodically(home),
        keep_fresh(home),
        *([_emit_measures(home)] if task.measures else []),
    ]
    await with_heartbeat(home.heart, _beside(chores, pool.run(once=task.once)))


async def _job_named(home: DataDirectory, job: str) -> str:
    """Return the id of a job: any tenant's by its whole id, our own by a part of it, too."""
    if await home.world.store.roster.tenant_of(job) is not None:
        return job
    return (await jobs.find(home.world, job)).id


async def _emit_measures(home: DataDirectory) -> None:
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


async def _hire(homes: TenantDirectories, tenant: str, name: str) -> JobWorker | None:
    home = homes.of(tenant)
    job = await home.world.store.jobs.get(name)
    if job is None:
        return None
    refuse_unservable(home, job)
    check_identity(job.config)
    await providers.refuse_crawl(home.world, job.provider)
    rules = await read_job_rules(home.world, job.config, job.seeds)
    worker = worker_for(home, job, rules, workers=1)
    worker.longest_poll_s = LONGEST_POLL_S
    return JobWorker(home.world, job, worker)


def live(pipe: Connection) -> None:
    """Take the order, carry it out, and say how it ended."""
    carry_out(pipe, WorkerOrder, lambda order: _work(order, pipe))


async def _work(order: WorkerOrder, pipe: Connection) -> StopReason:
    relax_garbage_collector()
    sink = PipeSink(pipe)
    async with open_directory(
        order.root, order.settings, lambda _: sink, owner=order.owner
    ) as home:
        job = await jobs.find(home.world, order.job)
        rules = await read_job_rules(home.world, job.config, job.seeds)
        worker = worker_for(home, job, rules, workers=order.workers)
        stop_on_signal(pipe, worker.drain, worker.abandon)
        await home.heart.enrol(WorkerRole.WORKER, [job.config])
        home.heart.join(job.id)
        async with kept_fresh(home):
            stop = await with_heartbeat(home.heart, worker.run())
        sink.flush()
        return stop


if __name__ == "__main__":
    live(Connection(int(sys.argv[1])))
