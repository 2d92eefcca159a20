"""How a job stands: its counters, what became of its URLs, which rules kept links out, and where.

Counters by state are exact and cheap. Outcomes and hosts are counted over the entries themselves,
up to a limit: a job of millions of URLs is told from a part of them, and says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field

from geomi.engine.world import World
from geomi.model.entry import UrlEntry
from geomi.model.job import CrawlJob
from geomi.model.verdict import Outcome, State

# About five seconds of reading.
ENTRIES_READ = 200_000
ENTRIES_PER_READ = 1000
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
        is_whole: whether every entry was read for outcomes, hosts and problems.
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


@dataclass(slots=True)
class _Tally:
    outcomes: Counter[str] = field(default_factory=Counter)
    hosts: dict[str, Counter[State]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    entries: int = 0

    def add(self, entry: UrlEntry) -> None:
        self.entries += 1
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
        is_whole=tally.entries < ENTRIES_READ,
    )


async def _entries(world: World, job: str) -> AsyncIterator[UrlEntry]:
    after = b""
    for _ in range(ENTRIES_READ // ENTRIES_PER_READ):
        entries = await world.census.entries(job, state=None, after=after, limit=ENTRIES_PER_READ)
        for entry in entries:
            yield entry
        if len(entries) < ENTRIES_PER_READ:
            return
        after = entries[-1].url_hash
