"""Find the figures of a job that are out of bounds, and report a provider's finished run.

Commands and the service judge by the same figures and the same limits.

Rules kept (MON-01…MON-07, MON-09…MON-13):
- Success is 200 and 304. Redirects count neither as success nor as failure (C-81).
- A share of few requests raises no alarm: one failed page of three says nothing. The judgement says
  that there are too few; the same holds for chunks.
- A job that is over and whose counters differ from a recount is a fault of geomi, and an alarm.
- A run is reported once, where it ends. New, changed and deleted mean what they mean for a recrawl;
  a page that cannot be reached counts as deleted (CHG-02).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from geomi.chunk.check import (
    LEAST_PARTS,
    ChunkTally,
    check,
    describe_band,
    describe_value,
    is_telling,
)
from geomi.engine import recrawl
from geomi.engine.audit import invariants
from geomi.engine.audit.invariants import Invariant
from geomi.engine.world import World
from geomi.model.event import Reported
from geomi.model.index.chunk import ChunkCounts, ChunkIndicator, ChunkMeasure
from geomi.model.index.document import MAX_LISTED, DocumentFilter, DocumentState
from geomi.model.job import CrawlJob, Expired, JobFilter, JobKind, JobState
from geomi.model.verdict import Outcome, State
from geomi.recrawl.report import PageChange

LEAST_REQUESTS = 20
MIN_SUCCESS = 0.90
MAX_ERRORS = 0.20
MAX_EMPTY = 0.10
MAX_RETRIES = 0.15
MAX_CHANGE = 0.50
MAX_LATENCY_S = 5.0
MAX_DURATION_S = 3 * 3600.0
Outcomes = Mapping[tuple[State, Outcome | None, int | None], int]
MOST_SLOW_HOSTS = 20  # that are named: of more, the slowest
MOST_DOCUMENTS = 50_000  # whose chunks are added up
LOOKED_BACK = 100  # jobs, for the run before
CHUNK_WORDS = {
    ChunkMeasure.MEAN_TOKENS: "tokens of a chunk on average",
    ChunkMeasure.EMPTY: "empty chunks",
    ChunkMeasure.REPEATED: "chunks that repeat another",
    ChunkMeasure.SMALLEST: "tokens of the smallest chunk",
    ChunkMeasure.PER_PAGE: "chunks of a page on average",
}


class AlarmRule(StrEnum):
    """Which figure is out of its bounds."""

    SUCCESS = "success_rate"  # MON-01
    INDEXED = "indexed_pages"  # MON-02
    LATENCY = "response_time"  # MON-03
    ERRORS = "error_rate"  # MON-04
    EMPTY = "empty_rate"  # MON-05
    DURATION = "duration"  # MON-06
    RETRIES = "retry_rate"  # MON-07
    INVARIANT = "broken_invariant"  # what `engine/audit/invariants.py` says must always hold
    POISONED = "poisoned_pages"
    CHUNK_TOKENS = ChunkMeasure.MEAN_TOKENS.value  # MON-09
    EMPTY_CHUNKS = ChunkMeasure.EMPTY.value  # MON-10
    REPEATED_CHUNKS = ChunkMeasure.REPEATED.value  # MON-11
    SMALLEST_CHUNK = ChunkMeasure.SMALLEST.value  # MON-12
    CHUNKS_PER_PAGE = ChunkMeasure.PER_PAGE.value  # MON-13
    # Of a dataset; `engine/seeds/report.py` judges them (MON-15).
    FILE_FAILURES = "file_failures"
    DOMAIN_FAILURES = "domain_failures"
    PROCESSING = "processing_time"
    DEAD_LETTERS = "dead_letters"


CHUNK_RULES = frozenset(AlarmRule(measure.value) for measure in ChunkMeasure)


@dataclass(frozen=True, slots=True)
class JobFigures:
    """What is known of a job so far.

    Args:
        latencies: mean seconds of a page, by host; of very many hosts, the slowest.
        indexed: pages of the run; where nothing is indexed, those that are kept.
        indexed_before: the same of the run before; None for a first run.
        miscounts: where the job's counters are not what its entries say, in words.
    """

    outcomes: Outcomes
    requests: int
    retries: int
    active_s: float
    indexed: int = 0
    indexed_before: int | None = None
    chunks: ChunkCounts = field(default_factory=ChunkCounts)
    latencies: Mapping[str, float] = field(default_factory=dict)
    is_over: bool = False
    miscounts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Alarm:
    """One figure out of bounds; `subject` is the host or the kind of task that it is about."""

    rule: AlarmRule
    value: float
    limit: float
    message: str
    subject: str = ""


@dataclass(frozen=True, slots=True)
class CrawlJudgement:
    """What the figures of a job say, and which of them are too few to say anything.

    Args:
        requests: those that can succeed or fail; a redirect can do neither.
    """

    alarms: tuple[Alarm, ...]
    requests: int
    chunks: ChunkCounts

    @property
    def has_enough_requests(self) -> bool:
        """Whether shares of requests were judged."""
        return self.requests >= LEAST_REQUESTS

    @property
    def remarks(self) -> tuple[str, ...]:
        """What could not be judged, in words."""
        told = []
        if not self.has_enough_requests:
            told.append(
                "too few requests to judge success, errors, empty pages and retries: "
                f"{self.requests} of at least {LEAST_REQUESTS}"
            )
        if self.chunks.pages and not is_telling(self.chunks):
            told.append(f"too few chunks to judge: {self.chunks.parts} of at least {LEAST_PARTS}")
        return tuple(told)


async def judge_job(world: World, job: CrawlJob) -> CrawlJudgement:
    """Judge a job by what the store knows of it."""
    figures = await _figures(world, job)
    return CrawlJudgement(judge(figures), _asked(figures.outcomes), figures.chunks)


def judge(figures: JobFigures) -> tuple[Alarm, ...]:
    """Return every figure that is out of its bounds."""
    of_pages = (*_shares(figures), *_slow(figures), *_whole(figures))
    return (*of_pages, *judge_chunks(figures.chunks), *_broken(figures))


async def _figures(world: World, job: CrawlJob) -> JobFigures:
    times = await world.store.census.response_times(job.id, limit=MOST_SLOW_HOSTS)
    now, before = await _pages(world, job)
    outcomes = await world.store.census.outcomes(job.id)
    return JobFigures(
        outcomes=outcomes,
        requests=job.stats.requests,
        retries=job.stats.retries,
        active_s=job.active_s,
        indexed=now,
        indexed_before=before,
        # Before a job is over, some of its pages are not cut yet.
        chunks=await count_chunks(world, job) if job.state.is_final else ChunkCounts(),
        latencies=dict(times.slowest),
        is_over=job.state.is_final,
        miscounts=_miscounts(job, outcomes),
    )


def _miscounts(job: CrawlJob, outcomes: Outcomes) -> tuple[str, ...]:
    """Recount a job that is over and still has its URLs."""
    if not job.state.is_final or job.expired is not Expired.NOTHING:
        return ()
    return tuple(invariants.miscounted(job.stats, invariants.count_endings(outcomes)))


async def count_chunks(world: World, job: CrawlJob) -> ChunkCounts:
    """Add up the chunks of a job's documents; of very many, those of the first tell enough."""
    which = DocumentFilter(job=job.id, state=DocumentState.INDEXED)
    tally, after = ChunkTally(), ""
    for _ in range(MOST_DOCUMENTS // MAX_LISTED):
        rows = await world.store.documents.list(which, after=after, limit=MAX_LISTED)
        for row in rows:
            tally.add(row)
        if not rows:
            break
        after = rows[-1].id
    return tally.counts


async def _pages(world: World, job: CrawlJob) -> tuple[int, int | None]:
    """Count the indexed pages of a run, and those of the run before; else the pages kept.

    The run before is one of the same seeds into the same collection. Of a run that a later one
    has followed nothing can be said: its documents are the later one's by now.
    """
    counts = await world.store.documents.counts(job.id)
    is_indexed = bool(counts.indexed or counts.skipped or counts.failed)
    now = counts.indexed if is_indexed else job.stats.collected
    same = JobFilter(collection=job.collection, state=JobState.COMPLETED)
    newest = await world.store.jobs.page(same, before="", limit=LOOKED_BACK)
    runs = [old for old in newest if old.seeds == job.seeds]
    if len(runs) < 2 or runs[0].id != job.id or job.kind is not JobKind.CRAWL:
        return now, None
    old = runs[1]
    if not is_indexed:
        return now, old.stats.collected if old.kind is JobKind.CRAWL else None
    # What both runs have met belongs to this one now.
    new = (await recrawl.changes(world, job)).counts[PageChange.NEW]
    left = (await world.store.documents.counts(old.id)).indexed
    return now, left + max(0, now - new)


def success_share(outcomes: Outcomes) -> float:
    """Return which share of requests succeeded; 1 where nothing was asked."""
    asked = _asked(outcomes)
    succeeded = sum(_sum(outcomes, status=status) for status in (200, 304))
    return succeeded / asked if asked else 1.0


def _asked(outcomes: Outcomes) -> int:
    """Count requests that have an answer of their own, or none at all; a redirect has neither."""
    answers = sum(
        many
        for (_, _, status), many in outcomes.items()
        if status and (status == 304 or not 300 <= status < 400)
    )
    return answers + _unanswered(outcomes)


def _shares(figures: JobFigures) -> list[Alarm]:
    asked = _asked(figures.outcomes)
    if asked < LEAST_REQUESTS:
        return []
    success = success_share(figures.outcomes)
    errors = _errors(figures.outcomes) / asked
    read = sum(many for (state, _, _), many in figures.outcomes.items() if state is State.COMPLETED)
    empty = _sum(figures.outcomes, outcome=Outcome.EMPTY)
    empty_share = empty / (read + empty) if read + empty else 0.0
    retried = figures.retries / max(1, figures.requests)
    found = [
        (AlarmRule.SUCCESS, success, MIN_SUCCESS, success < MIN_SUCCESS, "of requests succeeded"),
        (AlarmRule.ERRORS, errors, MAX_ERRORS, errors > MAX_ERRORS, "of answers are 4xx or 5xx"),
        (AlarmRule.EMPTY, empty_share, MAX_EMPTY, empty_share > MAX_EMPTY, "of pages had no text"),
        (
            AlarmRule.RETRIES,
            retried,
            MAX_RETRIES,
            retried > MAX_RETRIES,
            "of requests were tried again",
        ),
    ]
    return [
        Alarm(rule, round(value, 4), limit, f"{value:.1%} {told} (limit {limit:.0%})")
        for rule, value, limit, is_out, told in found
        if is_out
    ]


def _slow(figures: JobFigures) -> list[Alarm]:
    return [
        Alarm(
            AlarmRule.LATENCY,
            round(seconds, 3),
            MAX_LATENCY_S,
            f"{host} takes {seconds * 1000:,.0f} ms to answer (limit {MAX_LATENCY_S * 1000:,.0f})",
            subject=host,
        )
        for host, seconds in sorted(figures.latencies.items())
        if seconds > MAX_LATENCY_S
    ]


def _whole(figures: JobFigures) -> list[Alarm]:
    found: list[Alarm] = []
    if figures.active_s > MAX_DURATION_S:
        found.append(_long("it", figures.active_s, MAX_DURATION_S))
    if poisoned := _sum(figures.outcomes, outcome=Outcome.POISONED):
        message = f"{poisoned:,} pages kill what reads them; `geomi status` names them"
        found.append(Alarm(AlarmRule.POISONED, poisoned, 0, message))
    before, now = figures.indexed_before, figures.indexed
    if figures.is_over and before:
        change = abs(now - before) / before
        if change >= MAX_CHANGE:
            message = f"there are {now:,} pages; after the last run there were {before:,}"
            found.append(Alarm(AlarmRule.INDEXED, round(change, 4), MAX_CHANGE, message))
    return found


def _broken(figures: JobFigures) -> list[Alarm]:
    if not figures.miscounts:
        return []
    many = float(len(figures.miscounts))
    message = f"{'; '.join(figures.miscounts)}; `geomi doctor --deep` shows more"
    return [Alarm(AlarmRule.INVARIANT, many, 0.0, message, subject=Invariant.COUNTERS)]


def judge_session(seconds: float, *, most_hours: float) -> Alarm | None:
    """Return an alarm for a session over several providers that takes long (MON-06).

    Args:
        most_hours: from the settings; 0: a session may take as long as it wants.
    """
    if not most_hours or seconds < most_hours * 3600:
        return None
    return _long("the indexing session", seconds, most_hours * 3600)


def _long(what: str, seconds: float, limit_s: float) -> Alarm:
    message = f"{what} has worked for {seconds / 3600:.1f} hours (limit {limit_s / 3600:g})"
    return Alarm(AlarmRule.DURATION, round(seconds), limit_s, message)


def judge_chunks(counts: ChunkCounts) -> tuple[Alarm, ...]:
    """Return every measure of chunks that lies outside its band; too few are not judged."""
    if not is_telling(counts):
        return ()
    return tuple(_chunk_alarm(one) for one in check(counts) if not one.is_healthy)


def _chunk_alarm(one: ChunkIndicator) -> Alarm:
    value = one.value or 0.0
    limit = one.least if value < one.least else one.most or 0.0
    message = (
        f"{CHUNK_WORDS[one.measure]}: {describe_value(one)} (normal: {describe_band(one)}); "
        f"{one.advice}"
    )
    return Alarm(AlarmRule(one.measure.value), round(value, 4), limit, message)


def _errors(outcomes: Outcomes) -> int:
    return sum(many for (_, _, status), many in outcomes.items() if status and status >= 400)


def _unanswered(outcomes: Outcomes) -> int:
    """Count visits that ended without an answer: a name, a connection or a time that failed."""
    return sum(
        many
        for (state, _, status), many in outcomes.items()
        if state is State.FAILED and status is None
    )


def _sum(outcomes: Outcomes, *, status: int | None = None, outcome: Outcome | None = None) -> int:
    return sum(
        many
        for (_, its_outcome, its_status), many in outcomes.items()
        if (status is None or its_status == status) and (outcome is None or its_outcome is outcome)
    )


async def report_run(world: World, job: CrawlJob, provider: str) -> None:
    """Emit the change report of a provider's run.

    Args:
        provider: its name, as people write it.
    """
    changes = await recrawl.changes(world, job)
    counts = changes.counts
    share = success_share(await world.store.census.outcomes(job.id))
    chunks = check(await count_chunks(world, job))
    times = await world.store.census.response_times(job.id, limit=1)
    world.sink.emit(
        Reported(
            job=job.id,
            provider=provider,
            total=changes.total,
            new=counts[PageChange.NEW],
            updated=counts[PageChange.CHANGED],
            deleted=counts[PageChange.DELETED] + counts[PageChange.UNREACHABLE],
            change_percent=round(changes.rate_percent, 3),
            success_percent=round(100 * share, 3),
            response_ms=round(1000 * (times.mean_s or 0.0)),
            seconds=round(job.active_s, 3),
            chunks={one.measure: _rounded(one.value) for one in chunks},
        )
    )


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
