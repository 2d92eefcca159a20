"""What follows when the service has ended a provider's crawl: its change report (RPT-01), and the
crawl of its pages where its ready documents were not enough (G-22).
"""

from __future__ import annotations

import random

from geomi.app import channel
from geomi.engine.inspect.alarms import report_run
from geomi.errors import GeomiError, StoreError, UnknownName
from geomi.model.event import Warned
from geomi.model.job import CrawlJob, JobState
from geomi.service import providers
from geomi.service.open import Desk
from geomi.text.identifiers import new_ulid


async def tell_end(desk: Desk, name: str) -> None:
    """Report on a crawl that is over, where it was for a provider and is the service's own."""
    job = await desk.world.jobs.get(name)
    if job is None or job.state is not JobState.COMPLETED or not (job.provider and job.collection):
        return
    try:
        provider = (await providers.find(desk, job.provider)).name
    except UnknownName:  # its registration was removed meanwhile
        provider = job.provider
    await report_run(desk.world, job, provider)
    await _fall_back(desk, job)


async def _fall_back(desk: Desk, job: CrawlJob) -> None:
    """Let a crawl follow, once: the end of a job may be told again by whoever comes after us.

    One that is refused is told of, and ends there: whoever waits to be told of other crawls would
    wait for ever.
    """
    why = await channel.fallback(desk.home, job)
    if not why:
        return
    follower = new_ulid(job.ended_at_s or job.created_at_s, random.Random(job.id))
    if await desk.world.jobs.get(follower) is not None:
        return
    message = f"Context7 was not enough for provider {job.provider} ({why}); it "
    try:
        await providers.crawl(desk, job.provider, job.collection, job_id=follower, is_fallback=True)
    except StoreError:  # it comes back, and the end is told again
        raise
    except GeomiError as error:
        told = Warned(job.id, f"{message}cannot be crawled: {error.message}", error.hint)
        desk.world.sink.emit(told)
    else:
        desk.world.sink.emit(Warned(follower, f"{message}is crawled"))
