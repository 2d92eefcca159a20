"""The change report of a provider's crawl, when the service has ended it (RPT-01)."""

from __future__ import annotations

from geomi.engine.rundown import tell_run
from geomi.errors import UnknownName
from geomi.model.job import JobState
from geomi.service import providers
from geomi.service.open import Desk


async def tell_end(desk: Desk, name: str) -> None:
    """Report on a crawl that is over, where it was for a provider and is the service's own."""
    job = await desk.world.jobs.get(name)
    if job is None or job.state is not JobState.COMPLETED or not (job.provider and job.collection):
        return
    try:
        provider = (await providers.find(desk, job.provider)).name
    except UnknownName:  # its registration was removed meanwhile
        provider = job.provider
    await tell_run(desk.world, job, provider)
