"""Plan when a crawl is visited again without being asked (CHG-04).

Rules kept:
- A run begins when the first page is due, and no sooner after the run before than a page may be
  visited again (`recrawl.min_interval_s`). All pages that are due by then go into it.
- The requests of a crawl's recrawls in any 24 hours stay within its budget. They are counted in
  the store with each visit, so that a restart forgets none. A run reckons with one request for
  each page and one for the robots.txt of each host. What it takes beyond that, for redirects and
  further attempts, the next run has less.
- The next run is written down with the crawl. The process that finds it due plans anew.
- A crawl rests where another has taken its place, and after a failure for a while.
"""

from __future__ import annotations

import heapq
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from geomi.engine import recrawl
from geomi.engine.recrawl import RecrawlRequest
from geomi.engine.world import World
from geomi.errors import GeomiError
from geomi.model.history import RevisitPage
from geomi.model.job import CrawlJob, JobKind
from geomi.recrawl.due import next_visit_s
from geomi.recrawl.rate import DAY_S, Belief

LEAST_REQUESTS = 2  # a run can do something with them: robots.txt, and a page
RUNNING_LOOK_S = 10.0  # while a run is under way
FAILED_LOOK_S = 600.0


@dataclass(frozen=True, slots=True)
class WatchPlan:
    """When a crawl is visited again.

    Args:
        at_s: when the next run begins (wall clock); None where it has no page to visit.
        due: how many pages are due by then.
        left: how many requests its budget has left then.
        run: a run that is not over.
    """

    crawl: CrawlJob
    at_s: float | None
    due: int = 0
    left: int = 0
    run: CrawlJob | None = None


@dataclass(frozen=True, slots=True)
class NextVisit:
    """A page that is visited next, when at the earliest, and what is believed of it."""

    page: RevisitPage
    at_s: float
    belief: Belief


async def plan_run(world: World, crawl: CrawlJob, *, budget: int | None = None) -> WatchPlan:
    """Plan the next run of a crawl.

    Args:
        budget: requests a day, in place of the crawl's own.
    """
    runs, now_s = await _recent_runs(world, crawl), world.clock.wall_s()
    rules = crawl.config.recrawl
    budget = rules.requests_per_day if budget is None else budget
    running = next((job for job in runs if not job.state.is_final), None)
    if running is not None:
        return WatchPlan(crawl, now_s, left=_left(runs, budget, now_s), run=running)
    earliest_s = _free_s(runs, budget, now_s)
    if runs:
        earliest_s = max(earliest_s, runs[0].created_at_s + rules.min_interval_s)
    first_s: float | None = None
    due = 0
    async for page in _pages(world, crawl):
        visit_s = next_visit_s(page, rules)
        first_s = visit_s if first_s is None else min(first_s, visit_s)
        due += visit_s <= earliest_s
    if first_s is None:
        return WatchPlan(crawl, None)
    at_s = max(first_s, earliest_s)
    return WatchPlan(crawl, at_s, max(due, 1), _left(runs, budget, at_s))


async def next_visits(world: World, plan: WatchPlan, *, limit: int) -> list[NextVisit]:
    """List the pages of a crawl that are visited next, in the order of their times."""
    if plan.at_s is None:
        return []
    at_s, rules = plan.at_s, plan.crawl.config.recrawl
    beliefs = recrawl.Beliefs(world, plan.crawl.config, now_s=world.clock.wall_s())
    best: list[tuple[float, str, RevisitPage]] = []
    part: list[tuple[float, str, RevisitPage]] = []
    async for page in _pages(world, plan.crawl):
        part.append((max(next_visit_s(page, rules), at_s), page.url, page))
        if len(part) >= recrawl.PAGES_PER_READ:
            best, part = _first([*best, *part], limit), []
    return [
        NextVisit(page, time_s, await beliefs.of(page))
        for time_s, _, page in _first([*best, *part], limit)
    ]


async def look(world: World, crawl: CrawlJob, *, budget: int | None = None) -> WatchPlan | None:
    """Plan a crawl's next run and write it down; return it if it is to begin now."""
    if successor := await world.store.jobs.successor(crawl.id):
        note = f"crawl {successor} has the same start URLs, and is watched in its place"
        await world.store.jobs.look_again(crawl.id, None, note)
        return None
    plan = await plan_run(world, crawl, budget=budget)
    now_s = world.clock.wall_s()
    if plan.at_s is not None and plan.at_s <= now_s:
        await world.store.jobs.look_again(crawl.id, now_s + RUNNING_LOOK_S)
        return plan
    await world.store.jobs.look_again(crawl.id, plan.at_s)
    return None


def wish_of(left: int) -> RecrawlRequest:
    """Return what a run asks for that may send so many requests."""
    return RecrawlRequest(left, due_only=True, with_robots=True)


async def put_off(world: World, crawl: CrawlJob, error: GeomiError) -> None:
    """Let a crawl rest that could not be visited, and write down why."""
    at_s = world.clock.wall_s() + FAILED_LOOK_S
    await world.store.jobs.look_again(crawl.id, at_s, error.message)


async def _recent_runs(world: World, crawl: CrawlJob) -> list[CrawlJob]:
    """Return the recrawls of the last day and those not over, the newest first."""
    found: list[CrawlJob] = []
    since_s = world.clock.wall_s() - DAY_S
    for name in reversed(await world.store.histories.runs(crawl.id)):
        job = await world.store.jobs.get(name)
        if job is None or job.kind is not JobKind.RECRAWL:
            continue
        if found and job.state.is_final and job.created_at_s <= since_s:
            break
        found.append(job)
    return found


async def _pages(world: World, crawl: CrawlJob) -> AsyncIterator[RevisitPage]:
    """Walk over the pages of a crawl, each once: every job of it has the start URLs."""
    seeds, met = frozenset(crawl.seeds), set[bytes]()
    async for page in recrawl.walk_pages(world, crawl.id):
        if page.url in seeds:
            if page.url_hash in met:
                continue
            met.add(page.url_hash)
        yield page


def _left(runs: Sequence[CrawlJob], budget: int, at_s: float) -> int:
    """Return how many requests a budget has left at a time."""
    spent = sum(job.stats.requests for job in runs if job.created_at_s + DAY_S > at_s)
    return max(0, budget - spent)


def _free_s(runs: Sequence[CrawlJob], budget: int, now_s: float) -> float:
    """Return when a budget has something left."""

    def is_enough(time: float) -> bool:
        return _left(runs, budget, time) >= LEAST_REQUESTS

    times = [now_s, *(job.created_at_s + DAY_S for job in reversed(runs))]
    return next(time for time in times if time >= now_s and is_enough(time))


def _first(
    pages: Sequence[tuple[float, str, RevisitPage]], limit: int
) -> list[tuple[float, str, RevisitPage]]:
    return heapq.nsmallest(limit, pages, key=lambda one: one[:2])
