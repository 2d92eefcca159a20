"""Crawls: their list, the page of one crawl, and the actions on it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from fastapi import APIRouter
from starlette.responses import Response

from geomi.api.guard import needs
from geomi.api.paging import cut_to_limit, decode_cursor
from geomi.chunk.check import check, describe_band, describe_value
from geomi.dashboard import chart
from geomi.dashboard.chart import Bar, Curve
from geomi.dashboard.form import choice
from geomi.dashboard.guard import DashboardRequestDep, PageRoute
from geomi.dashboard.pages import DashboardRequest
from geomi.engine.inspect.alarms import CrawlJudgement, judge_job
from geomi.engine.regions import describe_unserved, unserved
from geomi.errors import UnknownName
from geomi.model.index.chunk import ChunkMeasure
from geomi.model.job import CrawlJob, JobFilter, JobState
from geomi.service.access.keys import KeyScope
from geomi.service.crawling import crawls
from geomi.service.crawling.crawls import BY_QUOTA, next_run_s
from geomi.service.crawling.progress import Progress, elapsed, progress
from geomi.service.service import TenantService

SHOWN = 20
READ, WRITE = needs(KeyScope.READ), needs(KeyScope.WRITE)
# The four phases that a tenant sees (WF-15), and the state that each is.
PHASES = (
    JobState.INITIALIZING,
    JobState.DISCOVERING,
    JobState.PROCESSING,
    JobState.FINALIZING,
)
router = APIRouter(route_class=PageRoute, include_in_schema=False)


@dataclass(frozen=True, slots=True)
class CrawlPhase:
    """A phase of a crawl, and whether it is over or under way."""

    state: JobState
    is_over: bool
    is_now: bool


@dataclass(frozen=True, slots=True)
class CrawlFigures:
    """The part of a crawl's page that changes while it runs."""

    now: Progress
    phases: tuple[CrawlPhase, ...]
    statuses: tuple[Bar, ...]
    reasons: tuple[Bar, ...]
    hosts: tuple[Bar, ...]
    line: Curve | None


@dataclass(frozen=True, slots=True)
class ChunkLine:
    """One measure of chunks, as it is shown."""

    measure: ChunkMeasure
    value: str
    band: str
    is_healthy: bool


@dataclass(frozen=True, slots=True)
class CrawlQuality:
    """How a crawl that is over is judged."""

    judgement: CrawlJudgement
    chunks: tuple[ChunkLine, ...]


@router.get("/crawls", openapi_extra=READ)
async def list_crawls(visit: DashboardRequestDep) -> Response:
    """List crawls, newest first."""
    state = choice(JobState, visit.asked("state"))
    which = JobFilter(visit.asked("collection")[:100], state)
    before = decode_cursor(visit.asked("cursor") or None, crawls.JOB_ID)
    found = await crawls.page(visit.desk, which, before=before, limit=SHOWN + 1)
    shown, cursor = cut_to_limit(found, SHOWN, lambda job: job.id)
    return visit.page(
        "crawls.html",
        rows=await crawl_rows(visit.desk, shown),
        cursor=cursor,
        which=which,
        states=tuple(JobState),
    )


@router.get("/crawls/{job_id}", openapi_extra=READ)
async def look(job_id: str, visit: DashboardRequestDep) -> Response:
    """Show a crawl as it runs."""
    job = await crawls.find(visit.desk, job_id)
    now = crawl_figures(await progress(visit.desk, job))
    judged = await _quality(visit.desk, job) if job.state.is_final else None
    return visit.page(
        "crawl.html",
        job=job,
        can=_possible(job),
        drawn=now,
        quality=judged,
        next_run_s=next_run_s(job),
        unserved=describe_unserved(await unserved(visit.desk.world, job)),
    )


async def _quality(desk: TenantService, job: CrawlJob) -> CrawlQuality:
    judgement = await judge_job(desk.world, job)
    return CrawlQuality(
        judgement,
        tuple(
            ChunkLine(one.measure, describe_value(one), describe_band(one), one.is_healthy)
            for one in check(judgement.chunks)
        ),
    )


@router.post("/crawls/{job_id}/{action}", openapi_extra=WRITE, operation_id="changeCrawl")
async def act(job_id: str, action: str, visit: DashboardRequestDep) -> Response:
    """Do something to a crawl."""
    do = _ACTIONS.get(action)
    if do is None:
        raise UnknownName(f"nothing called `{action[:40]}` can be done to a crawl")
    job = await do(visit.desk, job_id)
    return visit.go(f"/crawls/{job.id}" if job else "/crawls")


def crawl_figures(now: Progress) -> CrawlFigures:
    """Draw how a crawl stands."""
    return CrawlFigures(
        now,
        _phases(now.job),
        chart.bars(now.statuses),
        chart.bars(now.reasons),
        chart.bars([(one.host, one.visited) for one in now.hosts]),
        chart.curve(now.course.counts),
    )


def live_part(visit: DashboardRequest, now: Progress) -> str:
    """Write the part of a crawl's page anew that changes while it runs."""
    return visit.render("figures.html", job=now.job, drawn=crawl_figures(now))


def _phases(job: CrawlJob) -> tuple[CrawlPhase, ...]:
    over = len(PHASES) if job.state is JobState.COMPLETED else -1
    place = PHASES.index(job.state) if job.state in PHASES else over
    return tuple(
        CrawlPhase(state, number < place, number == place) for number, state in enumerate(PHASES)
    )


def _possible(job: CrawlJob) -> tuple[str, ...]:
    """Return what can be done to a crawl now."""
    if job.state.is_final:
        again = ("resume",) if job.stop in BY_QUOTA else ()
        may_be_fresh = job.state is JobState.COMPLETED and not (job.crawl or job.provider)
        watched = ("unwatch" if job.is_watched else "watch",) if may_be_fresh else ()
        return (*again, "retry", *watched, "delete")
    return ("resume", "cancel") if job.paused else ("pause", "cancel")


async def _watch(desk: TenantService, job_id: str) -> CrawlJob:
    return await crawls.change_watch(desk, job_id, watch=True)


async def _unwatch(desk: TenantService, job_id: str) -> CrawlJob:
    return await crawls.change_watch(desk, job_id, watch=False)


async def _delete(desk: TenantService, job_id: str) -> None:
    await crawls.delete(desk, job_id)


_ACTIONS: dict[str, Callable[[TenantService, str], Awaitable[CrawlJob | None]]] = {
    "cancel": crawls.cancel,
    "pause": crawls.pause,
    "resume": crawls.resume,
    "retry": crawls.repeat,
    "watch": _watch,
    "unwatch": _unwatch,
    "delete": _delete,
}


@dataclass(frozen=True, slots=True)
class CrawlRow:
    """One crawl of a list; `done` is how much of what is known was visited, in per cent."""

    job: CrawlJob
    queued: int
    indexed: int
    per_minute: float
    done: float


async def crawl_rows(desk: TenantService, jobs: Sequence[CrawlJob]) -> tuple[CrawlRow, ...]:
    """Look at some crawls."""
    return tuple([await _row(desk, job) for job in jobs])


async def _row(desk: TenantService, job: CrawlJob) -> CrawlRow:
    outlook = await desk.world.store.census.outlook(job.id, now_s=desk.world.clock.now_s())
    counts = await desk.world.store.documents.counts(job.id)
    seconds = elapsed(desk, job)
    known = outlook.pending + job.stats.settled
    return CrawlRow(
        job,
        outlook.pending,
        counts.indexed,
        60 * job.stats.settled / seconds if seconds >= 1 else 0.0,
        100.0
        if job.state.is_final
        else round(100 * job.stats.settled / known, 1)
        if known
        else 0.0,
    )
