"""Report the progress of a dataset, and the figures that are out of bounds (RPT-04, MON-15).

The figures are counted from tasks: processed, failed and pending always add up to the total
(RPT-05). A failure is a task that is not tried again. Its share is taken of all tasks, so the first
failure of a long run raises no alarm.
"""

from __future__ import annotations

from dataclasses import dataclass

from geomi.engine.inspect.alarms import Alarm, AlarmRule
from geomi.engine.seeds.context import SeedContext
from geomi.model.dataset.queue import QueueDepth, TaskTally
from geomi.model.dataset.seed import PartitionFilter

EVERYTHING = PartitionFilter()
MAX_FILE_FAILURES = 0.05
MAX_DOMAIN_FAILURES = 0.10
MAX_PROCESSING_S = 5.0
MAX_DEAD_LETTERS = 100


@dataclass(frozen=True, slots=True)
class DatasetProgress:
    """A dataset at one moment.

    Args:
        files, domains: the tasks of those partitions that were asked for.
        seed_queue, domain_queue: how full each is, over all partitions.
    """

    files: TaskTally
    domains: TaskTally
    seed_queue: QueueDepth
    domain_queue: QueueDepth

    @property
    def dead_letters(self) -> int:
        """Messages that failed for good."""
        return self.seed_queue.dead + self.domain_queue.dead

    @property
    def waiting(self) -> int:
        """Messages that are not done: waiting ones, and borrowed ones."""
        return sum(one.waiting + one.lent for one in (self.seed_queue, self.domain_queue))


@dataclass(frozen=True, slots=True)
class ProcessingStats:
    """What became of raw files and domains, in the names of RPT-04."""

    files_total: int
    files_processed: int
    files_failed: int
    files_pending: int
    domains_total: int
    domains_processed: int
    domains_failed: int
    domains_pending: int


@dataclass(frozen=True, slots=True)
class CollectionStats:
    """What was found of domains, in the names of RPT-04."""

    robots_txt_found: int
    robots_txt_rate: float
    sitemap_xml_found: int
    sitemap_xml_rate: float
    avg_processing_time_ms: int


@dataclass(frozen=True, slots=True)
class SeedReport:
    """The dashboard's figures (RPT-04)."""

    processing_stats: ProcessingStats
    collection_stats: CollectionStats


async def read_progress(
    seeding: SeedContext, which: PartitionFilter = EVERYTHING
) -> DatasetProgress:
    """Ask the queues of a dataset how far it is."""
    queues, name, rules = seeding.queues, seeding.dataset.name, seeding.config.seeds
    now_s = seeding.world.clock.now_s()
    return DatasetProgress(
        files=await queues.tally(name, rules.seed_queue, which),
        domains=await queues.tally(name, rules.domain_queue, which),
        seed_queue=await queues.depth(name, rules.seed_queue, now_s=now_s),
        domain_queue=await queues.depth(name, rules.domain_queue, now_s=now_s),
    )


def make_report(standing: DatasetProgress) -> SeedReport:
    """Write a standing as the dashboard has it; rates are of all domains (RPT-05)."""
    files, domains = standing.files, standing.domains
    return SeedReport(
        ProcessingStats(
            files.total,
            files.processed,
            files.failed,
            files.pending,
            domains.total,
            domains.processed,
            domains.failed,
            domains.pending,
        ),
        CollectionStats(
            domains.robots,
            round(share(domains.robots, domains.total), 2),
            domains.sitemaps,
            round(share(domains.sitemaps, domains.total), 2),
            round(domains.duration_ms),
        ),
    )


def share(part: int, whole: int) -> float:
    """Return which part of a whole something is; 0 where there is nothing."""
    return part / whole if whole else 0.0


def judge_seeds(standing: DatasetProgress) -> tuple[Alarm, ...]:
    """Return every figure that is out of its bounds."""
    files, domains = standing.files, standing.domains
    found = [
        _failures(AlarmRule.FILE_FAILURES, files, MAX_FILE_FAILURES, "raw files"),
        _failures(AlarmRule.DOMAIN_FAILURES, domains, MAX_DOMAIN_FAILURES, "domains"),
        _slowness(files, "raw file"),
        _slowness(domains, "domain"),
        _backlog(standing.dead_letters),
    ]
    return tuple(alarm for alarm in found if alarm is not None)


def _failures(rule: AlarmRule, tally: TaskTally, limit: float, what: str) -> Alarm | None:
    value = share(tally.failed, tally.total)
    if value <= limit:
        return None
    told = f"{value:.1%} of {what} failed ({tally.failed:,} of {tally.total:,}; limit {limit:.0%})"
    return Alarm(rule, round(value, 4), limit, told)


def _slowness(tally: TaskTally, what: str) -> Alarm | None:
    seconds = tally.duration_ms / 1000
    if seconds <= MAX_PROCESSING_S:
        return None
    told = f"a {what} takes {seconds:,.1f} s on average (limit {MAX_PROCESSING_S:g})"
    return Alarm(AlarmRule.PROCESSING, round(seconds, 3), MAX_PROCESSING_S, told, subject=what)


def _backlog(dead: int) -> Alarm | None:
    if dead <= MAX_DEAD_LETTERS:
        return None
    told = f"{dead:,} dead letters wait for a person (limit {MAX_DEAD_LETTERS})"
    return Alarm(AlarmRule.DEAD_LETTERS, dead, MAX_DEAD_LETTERS, told)
