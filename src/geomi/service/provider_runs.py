"""Watch the crawls of providers in a service: report their ends, and limit their pages.

When a provider's crawl has ended, the service reports its changes (RPT-01). If its source did not
have enough documents, one crawl of the provider's pages follows (G-22).

All provider crawls of a tenant that run together are one indexing session (JOB-08). Its pages are
counted every few seconds; above the limit the service cancels the rest of the session and warns. A
session may exceed its limit by the pages between two counts. One that takes long is an alarm.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from geomi.app.external_docs import fallback_reason
from geomi.engine import jobs
from geomi.engine.inspect.alarms import judge_session, report_run
from geomi.errors import GeomiError, StoreError, UnknownName, WrongState
from geomi.model.event import Warned
from geomi.model.job import CrawlJob, JobFilter, JobState
from geomi.service import alarms, providers
from geomi.service.service import Service, TenantService
from geomi.text.identifiers import new_ulid

MOST_JOBS = 1000
LOOKED_BACK = 200  # crawls of a tenant; there are fifteen providers to begin with


async def report_end(desk: TenantService, name: str) -> None:
    """Report on a crawl that is over, where it was for a provider and is the service's own."""
    job = await desk.world.store.jobs.get(name)
    if job is None or job.state is not JobState.COMPLETED or not (job.provider and job.collection):
        return
    try:
        provider = (await providers.find(desk, job.provider)).name
    except UnknownName:  # its registration was removed meanwhile
        provider = job.provider
    if not await _fall_back(desk, job):
        await report_run(desk.world, job, provider)


async def _fall_back(desk: TenantService, job: CrawlJob) -> bool:
    """Start the fallback crawl, once: the end of a job may be reported again after a restart.

    Return whether a crawl follows, whose end is that of the run.

    One that is refused is told of, and ends there: whoever waits to be told of other crawls would
    wait for ever.
    """
    why = await fallback_reason(desk.world, job)
    if not why:
        return False
    follower = new_ulid(job.ended_at_s or job.created_at_s, random.Random(job.id))
    if await desk.world.store.jobs.get(follower) is not None:
        return True
    message = (
        f"{job.channel.source} does not have all documents of provider {job.provider} ({why}); it "
    )
    try:
        await providers.crawl(desk, job.provider, job.collection, job_id=follower, is_fallback=True)
    except StoreError:  # it comes back, and the end is told again
        raise
    except GeomiError as error:
        told = Warned(job.id, f"{message}cannot be crawled: {error.message}", error.hint)
        desk.world.sink.emit(told)
        return False
    desk.world.sink.emit(Warned(follower, f"{message}is crawled"))
    return True


async def watch_sessions(service: Service) -> int:
    """Stop sessions that have too many pages, and warn of long ones; no more work is due then."""
    most = service.settings.session_pages
    for tenant in await _indexing_tenants(service):
        desk = service.desk(tenant)
        recent = await desk.world.store.jobs.page(JobFilter(), before="", limit=LOOKED_BACK)
        session = indexing_session(recent)
        pages = sum(job.stats.settled for job in session)
        await _warn_of_length(desk, session)
        if most and pages > most:
            await _stop_session(desk, session, pages, most)
    return 0


def indexing_session(recent: Sequence[CrawlJob]) -> list[CrawlJob]:
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


async def _indexing_tenants(service: Service) -> set[str]:
    """Name the tenants for whom a provider is being crawled."""
    found: set[str] = set()
    for tenant, name in await service.home.store.roster.active(MOST_JOBS):
        if tenant not in found:
            job = await service.desk(tenant).world.store.jobs.get(name)
            if job is not None and job.provider:
                found.add(tenant)
    return found


async def _stop_session(
    desk: TenantService, session: Sequence[CrawlJob], pages: int, most: int
) -> None:
    cause = f"the indexing session has visited {pages:,} pages; its limit is {most:,}"
    for job in session:
        if job.state.is_final:
            continue
        with suppress(WrongState):  # it has come to its end meanwhile
            await jobs.cancel(desk.world, replace(job, error=cause))
            hint = "GEOMI_SESSION_PAGES sets the limit; collected pages stay"
            desk.world.sink.emit(Warned(job.id, f"{cause}; provider {job.provider} stops", hint))


async def _warn_of_length(desk: TenantService, session: Sequence[CrawlJob]) -> None:
    """Keep one alarm of a session that takes long; its first crawl stands for it (MON-06)."""
    first = min(session, key=_began_s, default=None)
    if first is None:
        return
    worked_s = desk.wall_s - _began_s(first)
    alarm = judge_session(worked_s, most_hours=desk.service.settings.session_hours)
    if alarm is not None:
        name = f"{first.id}-{alarms.digest_of(alarm, 'session')}"
        kept = alarms.KeptAlarm(name, desk.wall_s, first.id, first.collection, alarm)
        await alarms.keep_alarm(desk, kept)


def _began_s(job: CrawlJob) -> float:
    return job.started_at_s or job.created_at_s
