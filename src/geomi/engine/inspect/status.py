"""Report on a job: its counters, its URLs by outcome, rules that excluded links, and pages due.

Counters by state are always there. Outcomes, hosts and problems are counted over the entries, and
a job of millions of URLs has too many of those. It is reported without them, and the report says
so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field

from geomi.engine.freshness import Dues, dues
from geomi.engine.world import World
from geomi.model.entry import UrlEntry
from geomi.model.job import CrawlJob
from geomi.model.verdict import Outcome, State

# A read looks at every host for its share of entries, so that few large ones are cheaper than many.
MAX_ENTRIES = 50_000
ENTRIES_PER_READ = 5000
MAX_PROBLEMS = 1000  # URLs that brought no page, told one by one


@dataclass(frozen=True, slots=True)
class Problem:
    """A URL that brought no page, and why."""

    url: str
    state: State
    outcome: Outcome | None
    status: int | None
    detail: str


@dataclass(frozen=True, slots=True)
class Status:
    """One job at one moment.

    Args:
        next_in_s: seconds until the next URL may be asked for; None when none waits.
        hosts: URLs of each host by state, the busiest host first.
        exclusions: how often each rule kept a link out, with some examples.
        is_whole: whether outcomes, hosts and problems are told.
        due: what of its crawl is due; None while it runs, or where there are too many pages.
    """

    job: CrawlJob
    states: Mapping[State, int]
    leased: int
    next_in_s: float | None
    outcomes: Mapping[str, int]
    hosts: Mapping[str, Mapping[State, int]]
    problems: tuple[Problem, ...]
    exclusions: Mapping[str, tuple[int, tuple[str, ...]]]
    is_whole: bool
    due: Dues | None = None


@dataclass(slots=True)
class _Tally:
    outcomes: Counter[str] = field(default_factory=Counter)
    hosts: dict[str, Counter[State]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def add(self, entry: UrlEntry) -> None:
        self.hosts.setdefault(entry.host, Counter())[entry.state] += 1
        if entry.outcome is not None:
            self.outcomes[entry.outcome.value] += 1
        no_page = (State.FAILED, State.BLOCKED, State.SKIPPED)
        if entry.state in no_page and len(self.problems) < MAX_PROBLEMS:
            self.problems.append(
                Problem(entry.url, entry.state, entry.outcome, entry.status, entry.detail)
            )


async def status(world: World, job: CrawlJob) -> Status:
    """Look at a job without changing it."""
    now_s = world.clock.now_s()
    outlook = await world.census.outlook(job.id, now_s=now_s)
    tally = _Tally()
    is_whole = job.stats.discovered <= MAX_ENTRIES
    if is_whole:
        async for entry in _entries(world, job.id):
            tally.add(entry)
    busiest = sorted(tally.hosts.items(), key=lambda pair: -pair[1].total())
    return Status(
        job=job,
        states=outlook.by_state,
        leased=outlook.leased,
        next_in_s=None if outlook.next_s is None else max(0.0, outlook.next_s - now_s),
        outcomes=dict(tally.outcomes.most_common()),
        hosts={host: dict(states) for host, states in busiest},
        problems=tuple(tally.problems),
        exclusions=await world.census.exclusions(job.id),
        is_whole=is_whole,
        due=await dues(world, job),
    )


async def _entries(world: World, job: str) -> AsyncIterator[UrlEntry]:
    after = b""
    while entries := await world.census.entries(
        job, state=None, after=after, limit=ENTRIES_PER_READ
    ):
        for entry in entries:
            yield entry
        after = entries[-1].url_hash
