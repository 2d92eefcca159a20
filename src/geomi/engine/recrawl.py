"""Choose the pages of a crawl that are due, and put them back as entries of a new job.

Rules kept:
- One process sweeps a crawl at a time. The right to do so is a lease by the store's clock.
- An interrupted recrawl is resumed before another one begins. If it died before its pages were put
  back, they are chosen again; the frontier's key keeps each page once.
- The budget covers new pages too. Chosen pages wait in the order of their gain, and a new page
  comes before the least of them.
"""

from __future__ import annotations

import shlex
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from geomi.engine import jobs
from geomi.engine.world import World
from geomi.errors import ConfigError, StoreBusy
from geomi.frontier.priority import HIGHEST
from geomi.model.config import CrawlConfig, UrlOrder
from geomi.model.entry import Discovered, Source
from geomi.model.history import FIRST_CURSOR, ChangePool, RevisitPage
from geomi.model.job import CrawlJob, JobKind, JobState
from geomi.recrawl.due import RevisitCandidate, consider, spend
from geomi.recrawl.rate import Belief, believe, change_pattern
from geomi.recrawl.report import Changes, judge
from geomi.text.identifiers import new_ulid

LEASE_S = 60.0
MOST_NAMED = 3  # start URLs in a hint
PAGES_PER_READ = 1000  # some 20 ms of work
# Entries that one sweep puts back, held in memory at 700 bytes each; the rest is due after it.
MAX_CHOSEN = 250_000
_KNOWN_POOLS = 50_000  # that are remembered during a walk
_NOT_PUT_BACK = frozenset({JobState.PENDING, JobState.INITIALIZING, JobState.DISCOVERING})


@dataclass(frozen=True, slots=True)
class RecrawlRequest:
    """What a recrawl is asked to do.

    Args:
        budget: how many pages may be asked for; None for all that are due.
        due_only: spend a budget on pages that are due, and leave the rest of it.
        with_robots: the budget has to do for the robots.txt of each host, too.
    """

    budget: int | None = None
    due_only: bool = False
    with_robots: bool = False


class Beliefs:
    """What is believed of pages now, with the pools that it takes."""

    def __init__(self, world: World, config: CrawlConfig, *, now_s: float) -> None:
        self._world = world
        self._rules = config.recrawl
        self._now_s = now_s
        self._pools: dict[tuple[str, str], ChangePool] = {}

    async def of(self, page: RevisitPage) -> Belief:
        """Return what is believed of a page's rate."""
        host = await self._pool(page.host, "")
        kin = await self._pool(page.host, change_pattern(page.url))
        return believe(page.history, kin, host, now_s=self._now_s, rules=self._rules)

    async def _pool(self, host: str, pattern: str) -> ChangePool:
        pool = self._pools.get((host, pattern))
        if pool is None:
            found = await self._world.store.histories.pools(host, (pattern,))
            pool = found.get(pattern, ChangePool())
            if len(self._pools) >= _KNOWN_POOLS:
                self._pools.clear()
            self._pools[host, pattern] = pool
        return pool


async def _nothing() -> None:
    """Do nothing between two reads."""


async def walk_pages(
    world: World, crawl: str, *, meanwhile: Callable[[], Awaitable[None]] = _nothing
) -> AsyncIterator[RevisitPage]:
    """Walk over the pages of a crawl's jobs, each in the job that met it first, seeds in all.

    Args:
        meanwhile: called after each read; a walk over a large crawl takes minutes.
    """
    for job in await world.store.histories.runs(crawl):
        after = FIRST_CURSOR
        while pages := await world.store.histories.standings(
            job, after=after, limit=PAGES_PER_READ
        ):
            for page in pages:
                yield page
            after = pages[-1].place
            await meanwhile()


async def choose(
    world: World,
    crawl: CrawlJob,
    wish: RecrawlRequest,
    *,
    meanwhile: Callable[[], Awaitable[None]] = _nothing,
) -> list[RevisitCandidate]:
    """Return the pages of a crawl that a recrawl would ask for now, the best first.

    Args:
        meanwhile: called after each read.
    """
    now_s = world.clock.wall_s()
    beliefs = Beliefs(world, crawl.config, now_s=now_s)
    rules = crawl.config.recrawl
    best: dict[bytes, RevisitCandidate] = {}
    most = min(wish.budget if wish.budget is not None else MAX_CHOSEN, MAX_CHOSEN)
    async for page in walk_pages(world, crawl.id, meanwhile=meanwhile):
        is_due = page.due_s <= now_s
        if not is_due and (wish.budget is None or wish.due_only):
            continue
        found = consider(page, await beliefs.of(page), now_s=now_s, rules=rules)
        if found is not None:
            best[page.url_hash] = found
        if len(best) > 1.25 * most + PAGES_PER_READ:
            best = {one.page.url_hash: one for one in spend(best.values(), most)}
    return spend(best.values(), most)


async def first_job(world: World, name: str) -> CrawlJob:
    """Find the first job of the crawl that a job belongs to."""
    job = await jobs.find(world, name)
    found = await world.store.jobs.get(job.crawl) if job.crawl else job
    if found is None:
        raise ConfigError(
            f"job {job.id} recrawls crawl {job.crawl}, which was deleted",
            hint="start a new crawl with geomi crawl",
        )
    if found.expired:
        raise ConfigError(
            f"the URLs of job {found.id} have expired (retention.urls_days)",
            hint="start a new crawl with geomi crawl",
        )
    return found


async def draft(world: World, crawl: CrawlJob, wish: RecrawlRequest) -> CrawlJob | None:
    """Create a recrawl that waits for its turn; None where one of the crawl is not over."""
    async with sweeping(world, crawl.id):
        if await unfinished(world, crawl.id) is not None:
            return None
        return await _create(world, crawl, wish)


async def begin(
    world: World, crawl: CrawlJob, wish: RecrawlRequest
) -> tuple[CrawlJob, bool] | None:
    """Start or resume a recrawl; None if no page is worth a visit now.

    Return the job and whether it is an old one.
    """
    if not crawl.state.is_final:
        raise ConfigError(
            f"job {crawl.id} is {crawl.state}; geomi recrawls a crawl when it is over",
            hint=f"continue it first: geomi crawl {_named(crawl.seeds)} --resume",
        )
    async with sweeping(world, crawl.id):
        await first_job(world, crawl.id)  # nothing of it goes from now on
        job = await unfinished(world, crawl.id)
        if job is not None and job.state not in _NOT_PUT_BACK:
            return await _go_on(world, job), True
        chosen = await choose(world, crawl, wish, meanwhile=lambda: _hold(world, crawl.id))
        if not chosen and job is None:
            return None
        is_old = job is not None
        job = job or await _create(world, crawl, wish)
        if wish.with_robots and wish.budget is not None:
            job, chosen = _with_robots(job, chosen, wish.budget)
        return await _put_back(world, job, chosen), is_old


@asynccontextmanager
async def sweeping(world: World, crawl: str) -> AsyncIterator[None]:
    """Hold the right to sweep a crawl."""
    await _hold(world, crawl)
    try:
        yield
    finally:
        await world.store.sweeps.end(crawl, owner=world.owner)


async def changes(world: World, job: CrawlJob) -> Changes:
    """Return the changes that a finished recrawl has found."""
    found = Changes(await world.store.histories.present(job.crawl or job.id))
    after = b""
    while entries := await world.store.census.entries(
        job.id, state=None, after=after, limit=PAGES_PER_READ
    ):
        histories = await world.store.histories.of([entry.url_hash for entry in entries])
        for entry in entries:
            history = histories.get(entry.url_hash)
            change = judge(entry, history, since_s=job.started_at_s or job.created_at_s)
            if change is not None:
                found.add(change, entry.url)
        after = entries[-1].url_hash
    return found


def _named(seeds: Sequence[str]) -> str:
    """Write start URLs as a command takes them: a job is known by all of them."""
    return shlex.join(seeds) if len(seeds) <= MOST_NAMED else "with the same start URLs"


async def _hold(world: World, crawl: str) -> None:
    if not await world.store.sweeps.take(
        crawl, owner=world.owner, lease_s=LEASE_S, now_s=world.clock.now_s()
    ):
        raise StoreBusy(
            f"crawl {crawl} is used by another recrawl",
            hint=f"if it died, another process may start after {LEASE_S:g} s",
        )


async def unfinished(world: World, crawl: str) -> CrawlJob | None:
    """Find a recrawl that is not over."""
    for name in reversed(await world.store.histories.runs(crawl)):
        job = await world.store.jobs.get(name)
        if job is not None and job.kind is JobKind.RECRAWL and not job.state.is_final:
            return job
    return None


async def _go_on(world: World, job: CrawlJob) -> CrawlJob:
    if job.state is JobState.FINALIZING:
        job = await jobs.step(world, job, JobState.PROCESSING)
    job = replace(job, stop=None, paused=False)
    await world.store.jobs.update(job, wall_s=world.clock.wall_s())
    return job


async def _create(world: World, crawl: CrawlJob, wish: RecrawlRequest) -> CrawlJob:
    wall_s = world.clock.wall_s()
    config = crawl.config
    limits = config.limits
    if wish.budget is not None:
        most = min(wish.budget, limits.max_pages) if limits.max_pages else wish.budget
        limits = replace(limits, max_pages=most)
    job = CrawlJob(
        id=new_ulid(wall_s, world.rng),
        tenant=crawl.tenant,
        seeds=crawl.seeds,
        # In the order of scores a new page comes before the least of what was chosen.
        config=replace(config, limits=limits, order=UrlOrder.SCORE),
        state=JobState.PENDING,
        created_at_s=wall_s,
        origins=crawl.origins,
        provider=crawl.provider,
        crawl=crawl.id,
        collection=crawl.collection,
        kind=JobKind.RECRAWL,
        channel=crawl.channel,
        channel_why=crawl.channel_why,
        library=crawl.library,
        library_name=crawl.library_name,
        profile=crawl.profile,
        network=crawl.network,
        archive=crawl.archive,
        directory=crawl.directory,
    )
    await world.store.jobs.create(job)
    return job


def _with_robots(
    job: CrawlJob, chosen: Sequence[RevisitCandidate], budget: int
) -> tuple[CrawlJob, list[RevisitCandidate]]:
    """Return as many pages as a number of requests will do for, and the job with its limit."""
    hosts: set[str] = set()
    kept: list[RevisitCandidate] = []
    for one in chosen:
        if len(kept) + len(hosts | {one.page.host}) >= budget:
            break
        kept.append(one)
        hosts.add(one.page.host)
    most = max(1, min(job.config.limits.max_pages or budget, budget - len(hosts)))
    limits = replace(job.config.limits, max_pages=most)
    return replace(job, config=replace(job.config, limits=limits)), kept


async def _put_back(world: World, job: CrawlJob, chosen: list[RevisitCandidate]) -> CrawlJob:
    """Put the chosen pages into the frontier; only then can workers crawl the job."""
    while job.state is not JobState.DISCOVERING:
        job = await jobs.step(world, job, jobs.TOWARDS_PROCESSING[job.state])
    seeds = frozenset(job.seeds)
    for start in range(0, len(chosen), PAGES_PER_READ):
        part = chosen[start : start + PAGES_PER_READ]
        entries = [
            _entry(one.page, seeds, rank=(start + place) / len(chosen))
            for place, one in enumerate(part)
        ]
        await world.store.frontier.add(job.id, entries, now_s=world.clock.now_s())
    return await jobs.step(world, job, JobState.PROCESSING)


def _entry(page: RevisitPage, seeds: frozenset[str], *, rank: float) -> Discovered:
    return Discovered(
        url_hash=page.url_hash,
        url=page.url,
        host=page.host,
        depth=page.depth,
        priority=round(HIGHEST * (1 - rank)),
        # Rules have exceptions for what a person asked for.
        source=Source.SEED if page.url in seeds else Source.REVISIT,
    )
