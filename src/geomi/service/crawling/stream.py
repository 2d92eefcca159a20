"""Stream the events of a crawl as they happen: states, pages and progress, from any position.

A position is the last state and the last page that were sent. The store counts both, so that a
reader who comes back with a position misses nothing and gets nothing twice, whichever process
answers. Progress has no position: it is the state of this moment.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

import orjson

from geomi.errors import FieldRefused, UnknownName
from geomi.model.job import CrawlJob, JobEvent, JobState
from geomi.service.crawling import crawls
from geomi.service.crawling.urls import UrlStatus
from geomi.service.service import TenantService

AT_ONCE = 100
LOOK_S = 0.5
PROGRESS_S = 1.0
QUIET_S = 15.0  # a line that nobody reads keeps a connection open this often

_POSITION = re.compile(r"(\d{1,18})-(\d{1,18})")


class EventKind(StrEnum):
    """The kinds of events."""

    STATE = "state"
    PAGE = "page"
    PROGRESS = "progress"
    QUIET = "quiet"  # nothing happened


@dataclass(frozen=True, slots=True)
class StreamPosition:
    """How far a stream has come: the last step of the job, and the last page."""

    step: int = 0
    page: int = 0

    def __str__(self) -> str:
        return f"{self.step}-{self.page}"


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """Something that happened; without a place it cannot be come back to."""

    kind: EventKind
    data: dict[str, object]
    place: StreamPosition | None = None


def read_position(text: str) -> StreamPosition:
    """Read a place that a stream gave before; empty is the beginning."""
    if not text:
        return StreamPosition()
    match = _POSITION.fullmatch(text)
    if match is None:
        raise FieldRefused(f"`{text[:60]}` is not an event of this stream", field="Last-Event-ID")
    return StreamPosition(int(match[1]), int(match[2]))


async def follow(
    desk: TenantService, job_id: str, place: StreamPosition, *, waits: bool = True
) -> AsyncGenerator[StreamEvent, None]:
    """Yield the events of a crawl after a position, until it is over.

    It ends early when the process ends: the client comes back with the last position.

    Args:
        waits: continue until the crawl is over, instead of ending after the present state.
    """
    job: CrawlJob | None = await crawls.find(desk, job_id)
    told_s = quiet_s = desk.world.clock.now_s()
    yield await _progress(desk, job_id)
    while True:
        is_over = job is None or job.state.is_final
        is_new = False
        async for event in _news(desk, job_id, place):
            assert event.place is not None, "news have a place"
            place, is_new = event.place, True
            yield event
            if desk.service.leaving.is_set():
                return
        now_s = desk.world.clock.now_s()
        if is_over or not waits:
            return
        if is_new or now_s - quiet_s >= QUIET_S:
            quiet_s = now_s
            if not is_new:
                yield StreamEvent(EventKind.QUIET, {})
        if now_s - told_s >= PROGRESS_S:
            told_s = now_s
            yield await _progress(desk, job_id)
        if await desk.service.leaves_within(LOOK_S):
            return
        job = await desk.world.store.jobs.get(job_id)


async def _news(
    desk: TenantService, job_id: str, place: StreamPosition
) -> AsyncIterator[StreamEvent]:
    """Yield steps and pages; an end comes after all pages before it."""
    steps: list[JobEvent] = []
    while more := await desk.home.store.journal.read(
        job_id, after=steps[-1].n if steps else place.step, limit=AT_ONCE
    ):
        steps += more
    ends = steps[-1:] if steps and _state(steps[-1]).is_final else []
    for step in steps[: len(steps) - len(ends)]:
        place = StreamPosition(step.n, place.page)
        yield _step(step, place)
    while rows := await desk.world.store.pages.feed(job_id, after=place.page, limit=AT_ONCE):
        for row in rows:
            place = StreamPosition(place.step, row.seq)
            yield StreamEvent(EventKind.PAGE, {"url": row.url, "sequence": row.seq}, place)
    for step in ends:
        yield _step(step, StreamPosition(step.n, place.page))


async def _progress(desk: TenantService, job_id: str) -> StreamEvent:
    job = await desk.world.store.jobs.get(job_id)
    if job is None:
        raise UnknownName(f"crawl {job_id} was deleted")
    figures = await crawls.crawl_counts(desk, job)
    return StreamEvent(
        EventKind.PROGRESS,
        {
            "status": job.state,
            "paused": job.paused,
            "urlsDiscovered": job.stats.discovered,
            "urlsQueued": figures.queued,
            "urlsProcessed": figures.processed,
            "urlsSucceeded": figures.by_status.get(UrlStatus.COMPLETED, 0),
            "urlsFailed": figures.by_status.get(UrlStatus.FAILED, 0),
            "pagesIndexed": figures.indexed,
            "bytesDownloaded": job.stats.bytes_received,
        },
    )


def _step(step: JobEvent, place: StreamPosition) -> StreamEvent:
    told = orjson.loads(step.body)
    data = {
        "status": told["state"],
        "paused": told["paused"],
        "stopReason": told["stop"],
        "error": told["error"] or None,
        "at": datetime.fromtimestamp(step.at_s, UTC),
    }
    return StreamEvent(EventKind.STATE, data, place)


def _state(step: JobEvent) -> JobState:
    return JobState(orjson.loads(step.body)["state"])
