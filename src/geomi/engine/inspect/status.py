"""Report on a job: its counters, its URLs by outcome, rules that excluded links, and pages due.

Counters by state are always there. Outcomes, hosts and problems are counted over the entries, and
a job of millions of URLs has too many of those. It is reported without them, and the report says
so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import islice

from geomi.engine.recrawl import Beliefs, walk_pages
from geomi.engine.regions import unserved
from geomi.engine.world import World
from geomi.model.entry import Source, UrlEntry, WaitingRegion
from geomi.model.history import PageHistory, RevisitPage, Stage
from geomi.model.job import CrawlJob
from geomi.model.site import RequestWindow
from geomi.model.verdict import Outcome, State, Verdict
from geomi.recrawl.rate import describe_rate, stage
from geomi.url.host import registrable_domain, split_authority

# A read looks at every host for its share of entries, so that few large ones are cheaper than many.
MAX_ENTRIES = 50_000
ENTRIES_PER_READ = 5000
MAX_PROBLEMS = 1000  # URLs that brought no page, told one by one
LOOKED_AT = 100  # entries of a job that collected nothing
# A walk over so many pages takes a second.
MAX_PAGES = 50_000
MAX_DOMAINS = 20  # the busiest, whose requests are counted under a cap of the job
MAX_WINDOWS = 60  # of each domain, the newest
HOUR_S = 3600.0


@dataclass(frozen=True, slots=True)
class UrlProblem:
    """A URL that brought no page, and why."""

    url: str
    state: State
    outcome: Outcome | None
    status: int | None
    detail: str


@dataclass(frozen=True, slots=True)
class DomainRequests:
    """The requests to one domain that count under a cap, of all jobs that have such a cap.

    Args:
        windows: the newest of those that have not expired; their times are those of the wall clock.
    """

    domain: str
    last_hour: int
    last_day: int
    windows: tuple[RequestWindow, ...]


@dataclass(frozen=True, slots=True)
class Status:
    """One job at one moment.

    Args:
        next_in_s: seconds until the next URL may be requested; None if none waits.
        hosts: URLs of each host by state, the busiest host first.
        exclusions: how often each rule kept a link out, with some examples.
        is_whole: whether outcomes, hosts and problems are told.
        due: what of its crawl is due; None while it runs, or where there are too many pages.
        requests: what counts under its caps for each domain (POL-11); empty without such a cap.
        unserved: what waits for workers of regions where none is alive.
    """

    job: CrawlJob
    states: Mapping[State, int]
    leased: int
    next_in_s: float | None
    outcomes: Mapping[str, int]
    hosts: Mapping[str, Mapping[State, int]]
    problems: tuple[UrlProblem, ...]
    exclusions: Mapping[str, tuple[int, tuple[str, ...]]]
    is_whole: bool
    due: DuePages | None = None
    requests: tuple[DomainRequests, ...] = ()
    unserved: tuple[WaitingRegion, ...] = ()


@dataclass(slots=True)
class _Tally:
    outcomes: Counter[str] = field(default_factory=Counter)
    hosts: dict[str, Counter[State]] = field(default_factory=dict)
    problems: list[UrlProblem] = field(default_factory=list)

    def add(self, entry: UrlEntry) -> None:
        self.hosts.setdefault(entry.host, Counter())[entry.state] += 1
        if entry.outcome is not None:
            self.outcomes[entry.outcome.value] += 1
        no_page = (State.FAILED, State.BLOCKED, State.SKIPPED)
        if entry.state in no_page and len(self.problems) < MAX_PROBLEMS:
            self.problems.append(
                UrlProblem(entry.url, entry.state, entry.outcome, entry.status, entry.detail)
            )


async def status(world: World, job: CrawlJob) -> Status:
    """Report on a job without changing it."""
    now_s = world.clock.now_s()
    outlook = await world.store.census.outlook(job.id, now_s=now_s)
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
        exclusions=await world.store.census.exclusions(job.id),
        is_whole=is_whole,
        due=await count_due(world, job),
        requests=await _requests(world, job, [host for host, _ in busiest]),
        unserved=() if job.state.is_final else await unserved(world, job),
    )


async def _requests(
    world: World, job: CrawlJob, hosts: Sequence[str]
) -> tuple[DomainRequests, ...]:
    """Count requests by domain, where the job has a cap for each of them."""
    own, now_s = job.config.politeness, world.clock.now_s()
    if not (own.max_per_domain_hour or own.max_per_domain_day):
        return ()
    ahead_s = world.clock.wall_s() - now_s
    domains = dict.fromkeys(registrable_domain(split_authority(host)[0]) for host in hosts)
    counted = []
    for domain in islice(domains, MAX_DOMAINS):
        windows = await world.store.census.windows(domain, now_s=now_s)
        told = (
            replace(one, start_s=one.start_s + ahead_s, expires_s=one.expires_s + ahead_s)
            for one in windows[:MAX_WINDOWS]
        )
        hour = sum(one.requests for one in windows if one.start_s > now_s - HOUR_S)
        day = sum(one.requests for one in windows)
        counted.append(DomainRequests(domain, hour, day, tuple(told)))
    return tuple(counted)


async def _entries(world: World, job: str) -> AsyncIterator[UrlEntry]:
    after = b""
    while entries := await world.store.census.entries(
        job, state=None, after=after, limit=ENTRIES_PER_READ
    ):
        for entry in entries:
            yield entry
        after = entries[-1].url_hash


async def seed_leading_out(world: World, job: CrawlJob) -> str:
    """Name a start URL that leads out of the crawl, where that left nothing to collect."""
    if job.stats.collected:
        return ""
    entries = await world.store.census.entries(job.id, state=None, after=b"", limit=LOOKED_AT)
    for entry in entries:
        if entry.outcome is Outcome.REDIRECT_EXCLUDED and entry.source is Source.SEED:
            return f"{entry.origin or entry.url} {entry.detail}: geomi why {entry.url}"
    return ""


@dataclass(frozen=True, slots=True)
class DuePages:
    """The pages of a crawl that are due.

    Args:
        pages: how many are due now.
        next_s: when the next of the others is (wall clock); None where there is none.
        stages: how far the rates of all pages are learned.
    """

    pages: int
    next_s: float | None
    stages: Mapping[Stage, int]


async def count_due(world: World, job: CrawlJob) -> DuePages | None:
    """Count what of a job's crawl is due; None where that would take long, or it is not over."""
    if not job.state.is_final or job.stats.collected > MAX_PAGES:
        return None
    now_s = world.clock.wall_s()
    times: dict[bytes, float] = {}
    stages: Counter[Stage] = Counter()
    async for page in walk_pages(world, job.crawl or job.id):
        if page.url_hash not in times:
            times[page.url_hash] = page.due_s
            stages[stage(page.history)] += 1
        if len(times) > MAX_PAGES:
            return None
    later = [due_s for due_s in times.values() if due_s > now_s]
    return DuePages(len(times) - len(later), min(later, default=None), dict(stages))


async def when_due(world: World, job: CrawlJob, entry: UrlEntry) -> Verdict | None:
    """Say when the page behind an entry is due and why; None where there is no page."""
    page = await world.store.pages.get(entry.url_hash)
    if page is None:
        return None
    now_s = world.clock.wall_s()
    histories = await world.store.histories.of([entry.url_hash])
    history = histories.get(entry.url_hash, PageHistory())
    standing = RevisitPage(
        page.url_hash, entry.url, entry.host, entry.depth, page.fetched_at_s, page.due_s, history
    )
    belief = await Beliefs(world, job.config, now_s=now_s).of(standing)
    on = datetime.fromtimestamp(page.due_s, UTC).strftime("%Y-%m-%d %H:%M:%SZ")
    when = f"due since {on}" if page.due_s <= now_s else f"due on {on}"
    return Verdict(True, "due", f"{when}: {describe_rate(history, belief)}")
