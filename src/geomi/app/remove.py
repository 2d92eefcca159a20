"""Removing a job: its bytes, what can be found of it, its rows, its files, in this order."""

from __future__ import annotations

import asyncio

from geomi.adapters.outlet.job_folder import remove_job
from geomi.app.home import Home
from geomi.app.run import is_running
from geomi.app.shelf import forget
from geomi.errors import StoreBusy, WrongState
from geomi.model.index.search import IndexScope
from geomi.model.job import CrawlJob
from geomi.settings.network import same_archive


def refuse_unfinished(job: CrawlJob) -> None:
    """Raise for a job that is not over: somebody may be at it."""
    if not job.state.is_final:
        raise WrongState(
            f"job {job.id} is {job.state}; only one that is over can be deleted",
            hint=f"geomi jobs cancel {job.id}",
        )


async def remove(home: Home, job: CrawlJob) -> None:
    """Forget a job that is over, and remove its files."""
    refuse_unfinished(job)
    same_archive(job, home.settings)
    if await is_running(home, job):
        raise StoreBusy(
            f"a worker has not let go of job {job.id} yet", hint="try again in some seconds"
        )
    await home.archive.erase(job.id)  # first: nothing else names what is in a bucket
    await home.world.spool.erase(job.id)
    await forget(home, IndexScope.JOB, [job.id])
    await home.world.jobs.delete(job.id)
    await asyncio.to_thread(remove_job, home.root, job.id)
