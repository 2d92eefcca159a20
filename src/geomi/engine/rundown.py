"""A provider's run that is over, in figures: what changed, how well and how fast it answered.

Told once where the run ends. New, changed and deleted are meant as for a recrawl: a page that
cannot be reached counts as deleted (CHG-02).
"""

from __future__ import annotations

from statistics import fmean

from geomi.engine import recrawl
from geomi.engine.inspect.alarms import success_share
from geomi.engine.world import World
from geomi.model.event import Reported
from geomi.model.job import CrawlJob
from geomi.recrawl.report import Change
from geomi.url.parse import parse as parse_url

MOST_HOSTS = 1000


async def tell_run(world: World, job: CrawlJob, provider: str) -> None:
    """Emit the change report of a provider's run.

    Args:
        provider: its name, as people write it.
    """
    changes = await recrawl.changes(world, job)
    counts = changes.counts
    share = success_share(await world.census.outcomes(job.id))
    world.sink.emit(
        Reported(
            job=job.id,
            provider=provider,
            total=changes.total,
            new=counts[Change.NEW],
            updated=counts[Change.CHANGED],
            deleted=counts[Change.DELETED] + counts[Change.UNREACHABLE],
            change_percent=round(changes.rate_percent, 3),
            success_percent=round(100 * share, 3),
            response_ms=await _response_ms(world, job),
            seconds=round(job.active_s, 3),
        )
    )


async def _response_ms(world: World, job: CrawlJob) -> int:
    """Return how long the provider's own hosts take to answer, on average."""
    own = {url.authority for url in map(parse_url, job.seeds) if url}
    hosts = await world.census.hosts(limit=MOST_HOSTS)
    times = [one.latency_s for one in hosts if one.host in own and one.latency_s]
    return round(1000 * fmean(times)) if times else 0
