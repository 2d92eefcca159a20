"""Indexing documentation as one session: all crawls of providers that run together (JOB-08).

A session begins with a provider's crawl while no other is there, and lasts until none is. Its pages
are counted over all of them; above the limit everything that is left of it stops, with a warning.
They are counted every few seconds, so that a session may be above its limit by what is fetched
meanwhile.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from geomi.engine import jobs
from geomi.errors import WrongState
from geomi.model.event import Warned
from geomi.model.job import CrawlJob, JobFilter
from geomi.service.open import Desk, Service

MOST_JOBS = 1000
LOOKED_BACK = 200  # crawls of a tenant; there are fifteen providers to begin with


async def keep_limit(service: Service) -> int:
    """Stop sessions that have more pages than they may; there is nothing more to do then."""
    most = service.settings.session_pages
    if not most:
        return 0
    for tenant in await _indexing(service):
        desk = service.desk(tenant)
        recent = await desk.world.jobs.page(JobFilter(), before="", limit=LOOKED_BACK)
        session = session_of(recent)
        pages = sum(job.stats.settled for job in session)
        if pages > most:
            await _stop(desk, session, pages, most)
    return 0


def session_of(recent: Sequence[CrawlJob]) -> list[CrawlJob]:
    """Return the crawls of providers that are under way, and those over that ran beside them."""
    ours = [job for job in recent if job.provider]
    session = [job for job in ours if not job.state.is_final]
    if not session:
        return []
    began_s = min(map(_began_s, session))
    over = [(job.ended_at_s, job) for job in ours if job.ended_at_s is not None]
    for ended_s, job in sorted(over, key=lambda one: one[0], reverse=True):
        if ended_s < began_s:  # so did all that are left
            break
        session.append(job)
        began_s = min(began_s, _began_s(job))
    return session


async def _indexing(service: Service) -> set[str]:
    """Name the tenants for whom a provider is being crawled."""
    found: set[str] = set()
    for tenant, name in await service.home.store.roster.active(MOST_JOBS):
        if tenant not in found:
            job = await service.desk(tenant).world.jobs.get(name)
            if job is not None and job.provider:
                found.add(tenant)
    return found


async def _stop(desk: Desk, session: Sequence[CrawlJob], pages: int, most: int) -> None:
    cause = f"the indexing session has {pages:,} pages; its limit is {most:,}"
    for job in session:
        if job.state.is_final:
            continue
        with suppress(WrongState):  # it has come to its end meanwhile
            await jobs.cancel(desk.world, replace(job, error=cause))
            hint = "GEOMI_SESSION_PAGES sets it; what was collected stays"
            desk.world.sink.emit(Warned(job.id, f"{cause}; provider {job.provider} stops", hint))


def _began_s(job: CrawlJob) -> float:
    return job.started_at_s or job.created_at_s
