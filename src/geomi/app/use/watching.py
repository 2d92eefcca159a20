"""Keep the crawls of a data directory fresh, until somebody ends it.

A crawl is visited again when pages of it are due (`engine/watching.py`), some crawls at once. The
crawls of the command line alone: a service visits its own, whose documents it has to index.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from geomi.app.directory import DataDirectory
from geomi.app.recovery import recover
from geomi.app.use.crawl import check_formats, refuse_unserved_region
from geomi.app.use.recrawl import RecrawlResult, recrawl
from geomi.engine import watching
from geomi.engine.watching import NextVisit, WatchPlan
from geomi.engine.worker.heartbeat import with_heartbeat
from geomi.engine.worker.supervisor import Supervisor
from geomi.engine.world import wait_for_event
from geomi.errors import GeomiError, StoreBusy, StoreError
from geomi.model.event import Warned
from geomi.model.job import CrawlJob, JobFilter, JobState
from geomi.model.worker import WorkerRole
from geomi.settings.options import RunOptions

MOST_AT_ONCE = 3  # crawls that are visited again at once, each with its own politeness
LOOK_S = 2.0  # how often due crawls are looked for; other processes add some
MOST_CRAWLS = 1000


@dataclass(frozen=True, slots=True)
class WatchedCrawl:
    """A watched crawl, what is planned for it, and the pages that are visited first."""

    crawl: CrawlJob
    plan: WatchPlan | None
    visits: list[NextVisit]
    why_not: str = ""


async def preview_watch(
    home: DataDirectory, *, budget: int | None, limit: int
) -> list[WatchedCrawl]:
    """Return what is planned for each crawl of the command line, the newest first."""
    found: list[WatchedCrawl] = []
    for crawl in await _crawls(home):
        why_not = await why_not_watched(home, crawl)
        if why_not:
            found.append(WatchedCrawl(crawl, None, [], why_not))
            continue
        plan = await watching.plan_run(home.world, crawl, budget=budget)
        visits = await watching.next_visits(home.world, plan, limit=limit)
        found.append(WatchedCrawl(crawl, plan, visits))
    return found


async def why_not_watched(home: DataDirectory, crawl: CrawlJob) -> str:
    """Say why nobody visits a crawl again; empty where somebody does."""
    if crawl.provider:
        return f"`geomi providers index --weekly` crawls provider {crawl.provider} again"
    if not crawl.is_watched:
        return "recrawl.watch is false, or the crawl expires (retention)"
    if crawl.expired:
        return "its URLs have expired (retention.urls_days)"
    if crawl.state is not JobState.COMPLETED:
        return f"it is {crawl.state}, not completed"
    if successor := await home.store.jobs.successor(crawl.id):
        return f"crawl {successor} has the same start URLs, and is watched in its place"
    return ""


async def why_idle(home: DataDirectory) -> str:
    """Say why there is no crawl to watch; empty where there is one of the command line."""
    if await _crawls(home):
        return ""
    if await home.store.roster.tenants():
        return "all crawls here are served; the service visits them again by itself (geomi serve)"
    return "no crawl is here; start one with geomi crawl URL"


class DirectoryWatch:
    """Visits the crawls of a directory again whenever they are due.

    Args:
        run: which outputs are written.
        budget: requests a day of each crawl, in place of its own.
        tell: called with the result of each run, and when the next look at a crawl is planned.
    """

    def __init__(
        self,
        home: DataDirectory,
        run: RunOptions,
        *,
        budget: int | None = None,
        tell: Callable[[RecrawlResult | None, CrawlJob], None] = lambda *_: None,
    ) -> None:
        self._home = home
        self._options = run
        self._budget = budget
        self._tell = tell
        self._busy: set[str] = set()
        self._running: set[Supervisor] = set()
        self._leaving = asyncio.Event()

    def interrupt(self) -> bool:
        """First call: finish requests in flight. Second call: stop now, and say so."""
        was_leaving = self._leaving.is_set()
        self._leaving.set()
        for supervisor in self._running:
            supervisor.interrupt()
        return was_leaving

    async def run(self) -> None:
        """Watch until interrupted."""
        check_formats(self._options.format)
        await recover(self._home)
        await self._home.heart.enrol(WorkerRole.SUPERVISOR)
        await with_heartbeat(self._home.heart, self._watch())

    async def _watch(self) -> None:
        await self._plan_anew()
        async with asyncio.TaskGroup() as group:
            while not self._leaving.is_set():
                for name in await self._due():
                    if len(self._busy) < MOST_AT_ONCE:
                        self._busy.add(name)
                        group.create_task(self._visit(name), name=f"watch {name}")
                await wait_for_event(self._leaving, LOOK_S)

    async def _plan_anew(self) -> None:
        """Look at all crawls at once: the budget may be another than that of the plan before."""
        for crawl in await _crawls(self._home):
            if not await why_not_watched(self._home, crawl):
                now_s = self._home.world.clock.wall_s()
                await self._home.store.jobs.look_again(crawl.id, now_s, crawl.watch_note)

    async def _due(self) -> list[str]:
        found = await self._home.store.roster.watched(
            wall_s=self._home.world.clock.wall_s(), limit=MOST_CRAWLS, is_served=False
        )
        mine = self._home.store.tenant
        return [name for tenant, name in found if tenant == mine and name not in self._busy]

    async def _visit(self, name: str) -> None:
        world = self._home.world
        try:
            crawl = await world.store.jobs.get(name)
            plan = await watching.look(world, crawl, budget=self._budget) if crawl else None
            if plan is not None:
                await self._recrawl(plan)
            elif crawl is not None:
                await self._conclude(None, crawl)
        finally:
            self._busy.discard(name)

    async def _recrawl(self, plan: WatchPlan) -> None:
        crawl, world = plan.crawl, self._home.world
        begun: list[Supervisor] = []

        def start(supervisor: Supervisor) -> None:
            begun.append(supervisor)
            self._running.add(supervisor)
            if self._leaving.is_set():
                supervisor.interrupt()

        wish = watching.wish_of(plan.left)
        try:
            result = await recrawl(self._home, crawl.id, wish, self._options, on_start=start)
            if result is not None:
                refuse_unserved_region(result.report)
            if not self._leaving.is_set():
                await watching.look(world, crawl, budget=self._budget)
            await self._conclude(result, crawl)
        except StoreBusy:
            return  # another process is at it; the next look is written down already
        except StoreError:
            raise
        except GeomiError as error:
            await watching.put_off(world, crawl, error)
            world.sink.emit(
                Warned(crawl.id, f"its pages were not visited again: {error.message}", error.hint)
            )
        finally:
            self._running.difference_update(begun)

    async def _conclude(self, result: RecrawlResult | None, crawl: CrawlJob) -> None:
        found = await self._home.store.jobs.get(crawl.id)
        if found is not None:
            self._tell(result, found)


async def _crawls(home: DataDirectory) -> list[CrawlJob]:
    """Return the crawls of the command line, the newest first."""
    found: list[CrawlJob] = []
    before = ""
    while page := await home.store.jobs.page(JobFilter(), before=before, limit=MOST_CRAWLS):
        found += [job for job in page if not job.crawl and not job.collection]
        before = page[-1].id
    return found[:MOST_CRAWLS]
