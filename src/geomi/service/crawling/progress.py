"""Show the progress of a crawl to a person: its outcomes, its hosts and its speed.

The store counts everything, so that two people see the same at the same time. Only the timeline of
a crawl with very many pages is drawn from a sample.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from geomi.model.entry import MAX_ENTRIES, EntryFilter
from geomi.model.history import FIRST_CURSOR, PageCursor
from geomi.model.index.document import DocumentCounts
from geomi.model.job import CrawlJob
from geomi.model.site import HostView
from geomi.model.verdict import Outcome, State
from geomi.ports.frontier import EntryEnding
from geomi.service.service import TenantService

MAX_HOSTS = 20  # the busiest; the list of sites has all
MAX_SAMPLED = 3000  # pages that the course over time is drawn from
MAX_PARTS = 48
LEAST_PART_S = 0.5  # shorter, and the gaps between two requests would be all there is to see
NO_THIN_WORDS = 0
_GOOD = frozenset({Outcome.OK, Outcome.NOT_MODIFIED})


@dataclass(frozen=True, slots=True)
class HostShare:
    """A host of a crawl: how many of its pages were visited, and how it is treated."""

    host: str
    visited: int
    view: HostView | None


@dataclass(frozen=True, slots=True)
class VisitTimeline:
    """Visits that ended in equal parts of the time from the first to the last.

    Args:
        part_s: how long each part is.
        is_sample: whether only some of the visits were looked at.
    """

    counts: tuple[int, ...] = ()
    part_s: float = 0.0
    is_sample: bool = False


@dataclass(frozen=True, slots=True)
class Progress:
    """A crawl at one moment.

    Args:
        per_minute: visits, over the whole time that it has worked.
        statuses: answers by their HTTP status.
        reasons: visits that brought no page, by how they ended, the most frequent first.
    """

    job: CrawlJob
    queued: int
    documents: DocumentCounts
    elapsed_s: float
    per_minute: float
    statuses: tuple[tuple[int, int], ...]
    reasons: tuple[tuple[Outcome, int], ...]
    hosts: tuple[HostShare, ...]
    course: VisitTimeline


async def progress(desk: TenantService, job: CrawlJob) -> Progress:
    """Return the progress of a crawl."""
    world = desk.world
    endings = await world.store.census.outcomes(job.id)
    queued = sum(many for (state, _, _), many in endings.items() if state is State.PENDING)
    elapsed_s = elapsed(desk, job)
    return Progress(
        job=job,
        queued=queued,
        documents=await world.store.documents.counts(job.id),
        elapsed_s=elapsed_s,
        per_minute=60 * job.stats.settled / elapsed_s if elapsed_s >= 1 else 0.0,
        statuses=_statuses(endings),
        reasons=_reasons(endings),
        hosts=await _hosts(desk, job),
        course=await _timeline(desk, job),
    )


def elapsed(desk: TenantService, job: CrawlJob) -> float:
    """Return how long a crawl has been under way, or was."""
    if job.started_at_s is None:
        return 0.0
    return max(0.0, (job.ended_at_s or desk.wall_s) - job.started_at_s)


def _statuses(endings: Mapping[EntryEnding, int]) -> tuple[tuple[int, int], ...]:
    counts: Counter[int] = Counter()
    for (_, _, status), many in endings.items():
        if status is not None:
            counts[status] += many
    return tuple(sorted(counts.items()))


def _reasons(endings: Mapping[EntryEnding, int]) -> tuple[tuple[Outcome, int], ...]:
    counts: Counter[Outcome] = Counter()
    for (state, outcome, _), many in endings.items():
        if outcome is not None and outcome not in _GOOD and state is not State.PENDING:
            counts[outcome] += many
    return tuple(counts.most_common())


async def _hosts(desk: TenantService, job: CrawlJob) -> tuple[HostShare, ...]:
    counts: Counter[str] = Counter()
    for one in await desk.world.store.census.qualities(job.id, thin_words=NO_THIN_WORDS):
        counts[one.host] += one.pages
    views = {view.host: view for view in await desk.world.store.census.hosts(limit=MAX_ENTRIES)}
    return tuple(
        HostShare(host, many, views.get(host)) for host, many in counts.most_common(MAX_HOSTS)
    )


async def _timeline(desk: TenantService, job: CrawlJob) -> VisitTimeline:
    ends: list[float] = []
    after: PageCursor | None = FIRST_CURSOR
    looked = 0
    while after is not None and looked < MAX_SAMPLED:
        part = await desk.world.store.census.rows(
            job.id, EntryFilter(), after=after, limit=MAX_ENTRIES
        )
        ends += [one.settled_s for one in part.entries if one.settled_s is not None]
        after, looked = part.after, looked + MAX_ENTRIES
    return timeline_of(ends, is_sample=after is not None)


def timeline_of(ends: list[float], *, is_sample: bool = False) -> VisitTimeline:
    """Count times in equal parts, from the first to the last."""
    if len(ends) < 2 or (span_s := max(ends) - min(ends)) <= 0:
        return VisitTimeline((len(ends),) if ends else (), 0.0, is_sample)
    parts = max(2, min(MAX_PARTS, int(span_s / LEAST_PART_S)))
    first_s, counts = min(ends), [0] * parts
    for end_s in ends:
        counts[min(parts - 1, int((end_s - first_s) / span_s * parts))] += 1
    return VisitTimeline(tuple(counts), span_s / parts, is_sample)
