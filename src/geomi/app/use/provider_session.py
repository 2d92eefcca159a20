"""Crawl several providers in one session, whose limits count over all of them (JOB-08, POL-02).

- Three providers at most are crawled at once, and each gets one request at a time from one host: so
  seed 000 §5.2 has it. The caps for an hour and a day are the store's, and hold anyway.
- A provider begins with as many pages as the session can still give it, and returns those that it
  did not need. So a session never has one page more than its limit.
- Each provider keeps a job, outputs and a change report of its own. One that fails does not stop
  the others; a store that fails stops all.
"""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from geomi.app.directory import DataDirectory
from geomi.app.store import open_store
from geomi.app.use.channels import ProviderRun, run_provider
from geomi.app.use.crawl import Plan
from geomi.app.use.providers import EVERY_JOB
from geomi.engine import jobs
from geomi.engine.inspect.alarms import judge_session
from geomi.engine.worker.supervisor import CrawlReport, Supervisor
from geomi.errors import (
    GeomiError,
    StoreBusy,
    StoreError,
    StoreMissing,
    WrongState,
    first_error,
)
from geomi.model.event import Warned
from geomi.model.job import SESSION, CrawlJob, CrawlStats, JobKind, StopReason
from geomi.settings.options import Settings

MAX_AT_ONCE = 3  # providers of a session (seed 000 §5.2)
WEEK_S = 7 * 86_400.0

Work = Callable[[Plan, Callable[[Supervisor], None]], Awaitable[CrawlReport]]


@dataclass(frozen=True, slots=True)
class SessionPart:
    """What became of one provider in a session.

    Args:
        run: None if it was not crawled, or failed.
        problem: why.
    """

    provider: str
    run: ProviderRun | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class SessionReport:
    """How a session ended.

    Args:
        parts: each provider in the order of the plans.
        pages: visits that count for the limit; a failed visit counts, too.
        collected: the pages that were kept.
    """

    parts: tuple[SessionPart, ...]
    pages: int
    collected: int = 0
    is_interrupted: bool = False


class ProviderSession:
    """The crawls of some providers, run together.

    Args:
        plans: one for each provider, as for a crawl of it alone.
        work: carries out one plan, and calls the function with each supervisor that it starts.
    """

    def __init__(self, home: DataDirectory, plans: Sequence[Plan], work: Work) -> None:
        self._home = home
        self._work = work
        self._waiting = deque(plans)
        self._order = [plan.provider for plan in plans]
        self._limit = home.settings.session_pages
        self._at_once = providers_at_once(plans)
        self._pages = self._collected = 0  # of the parts that are over
        self._granted: dict[str, float] = {}  # to the parts under way; inf: without a limit
        self._parts: dict[str, SessionPart] = {}
        self._running: set[Supervisor] = set()
        self._changed = asyncio.Condition()
        self._is_interrupted = False

    def interrupt(self) -> bool:
        """Start no further provider, and finish the requests in flight; the second time, stop."""
        was_interrupted, self._is_interrupted = self._is_interrupted, True
        for supervisor in self._running:
            supervisor.interrupt()
        return was_interrupted

    async def run(self) -> SessionReport:
        """Crawl every provider, or as many as the session's pages allow."""
        try:
            async with asyncio.TaskGroup() as group:
                watch = group.create_task(self._warn_when_long(), name="session: duration")
                async with asyncio.TaskGroup() as crawls:
                    for number in range(self._at_once):
                        crawls.create_task(self._crawl_waiting(), name=f"session {number}")
                watch.cancel()
        except* GeomiError as failures:
            raise first_error(failures) from failures
        self._tell_limit()
        for plan in self._waiting:
            why = "the session was interrupted" if self._is_interrupted else self._full()
            self._parts[plan.provider] = SessionPart(plan.provider, problem=why)
        parts = tuple(self._parts[key] for key in self._order)
        return SessionReport(parts, self._pages, self._collected, self._is_interrupted)

    async def _warn_when_long(self) -> None:
        """Warn once, when the session has worked for as long as it may (MON-06)."""
        clock, most_hours = self._home.world.clock, self._home.settings.session_hours
        if not most_hours:
            return
        began_s = clock.now_s()
        await clock.sleep_until(began_s + most_hours * 3600)
        if alarm := judge_session(clock.now_s() - began_s, most_hours=most_hours):
            told = f"alarm {alarm.rule}: {alarm.message}"
            hint = "GEOMI_SESSION_HOURS sets the limit; the session continues"
            self._home.world.sink.emit(Warned("", told, hint))

    def _watch(self, supervisor: Supervisor) -> None:
        self._running.add(supervisor)
        if self._is_interrupted:
            supervisor.interrupt()

    async def _crawl_waiting(self) -> None:
        while plan := await self._next():
            seen: set[str] = set()
            try:
                self._parts[plan.provider] = await self._crawl(plan, seen)
            finally:
                async with self._changed:
                    own = await self._stats(seen)
                    self._pages += sum(stats.settled for stats in own)
                    self._collected += sum(stats.collected for stats in own)
                    del self._granted[plan.provider]
                    self._changed.notify_all()

    async def _next(self) -> Plan | None:
        """Return the next provider, with the pages it may have; wait where others hold them."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._is_over or self._free > 0)
            if self._is_over:
                return None
            plan = self._waiting.popleft()
            own = plan.resolved.config.limits.max_pages
            self._granted[plan.provider] = min(own or self._free, self._free)
            return plan

    @property
    def _free(self) -> float:
        """How many pages no provider has taken, or may still take."""
        held = self._pages + sum(self._granted.values())
        return self._limit - held if self._limit else math.inf

    @property
    def _is_over(self) -> bool:
        is_full = self._free <= 0 and not self._granted
        return self._is_interrupted or not self._waiting or is_full

    async def _crawl(self, plan: Plan, seen: set[str]) -> SessionPart:
        """Crawl one provider by its channel; `seen` gets its jobs, of which there may be two."""
        key = plan.provider
        try:
            return SessionPart(
                key, await run_provider(self._home, plan, lambda one: self._run(one, seen))
            )
        except StoreBusy as error:  # another process is at it
            problem: GeomiError = error
        except StoreError:
            raise
        except GeomiError as error:
            problem = error
        told = f"provider {key} was not crawled: {problem.message}"
        self._home.world.sink.emit(Warned("", told, problem.hint))
        return SessionPart(key, problem=problem.message)

    async def _run(self, plan: Plan, seen: set[str]) -> CrawlReport:
        spent = sum(stats.settled for stats in await self._stats(seen))
        left = self._granted[plan.provider] - spent
        if left <= 0:
            raise WrongState(f"{self._full()}, and its crawl has no page left")
        begun: list[Supervisor] = []

        def start(supervisor: Supervisor) -> None:
            seen.add(supervisor.job)
            begun.append(supervisor)
            self._watch(supervisor)

        try:
            report = await self._work(bounded_plan(plan, left), start)
        finally:
            self._running.difference_update(begun)
        seen.add(report.job.id)
        return report

    async def _stats(self, seen: set[str]) -> list[CrawlStats]:
        return [(await jobs.find(self._home.world, name)).stats for name in sorted(seen)]

    def _full(self) -> str:
        return (
            f"the indexing session has visited {self._pages:,} pages; its limit is {self._limit:,}"
        )

    def _tell_limit(self) -> None:
        """Say which providers the session had no pages for, or too few (JOB-08)."""
        told = {
            "not crawled": [plan.provider for plan in self._waiting],
            "ended early": [part.provider for part in self._parts.values() if _is_cut(part)],
        }
        named = [f"{what}: {', '.join(keys)}" for what, keys in told.items() if keys]
        if named and not self._is_interrupted:
            hint = "; ".join(("GEOMI_SESSION_PAGES sets the limit", *named))
            self._home.world.sink.emit(Warned("", f"{self._full()}; the session stops", hint))


def _is_cut(part: SessionPart) -> bool:
    """Return whether a provider has more pages than its session had left for it."""
    job = part.run.report.job if part.run else None
    return job is not None and job.stop is StopReason.MAX_PAGES and job.has_session_limit


def providers_at_once(plans: Sequence[Plan]) -> int:
    """Return how many providers are crawled at once: three, or fewer where the settings say so."""
    asked = [plan.resolved.config.politeness for plan in plans]
    limits = [limit for one in asked for limit in (one.concurrency, one.max_hosts) if limit]
    return min([MAX_AT_ONCE, *limits])


def bounded_plan(plan: Plan, most: float) -> Plan:
    """Return a plan that takes one host at a time, and no more pages than the session gives it."""
    config, run = plan.resolved.config, plan.resolved.run
    own = config.limits.max_pages
    max_pages = own if most >= (own or math.inf) else int(most)
    values: dict[str, object] = {"politeness.concurrency": 1, "politeness.max_hosts": 1}
    if max_pages != own:
        values["limits.max_pages"] = max_pages
    origins = {**dict(plan.resolved.origins), **dict.fromkeys(values, SESSION)}
    resolved = replace(
        plan.resolved,
        config=replace(
            config,
            limits=replace(config.limits, max_pages=max_pages),
            politeness=replace(config.politeness, concurrency=1, max_hosts=1),
        ),
        run=replace(run, workers=1),
        origins=tuple(sorted(origins.items())),
    )
    # A job that is resumed keeps what it was begun with, but for the flags.
    told = {**plan.flags.values, **values, "limits.max_pages": max_pages}
    return replace(plan, resolved=resolved, flags=replace(plan.flags, values=told))


def last_runs(root: Path, settings: Settings) -> dict[str, CrawlJob]:
    """Return the newest crawl of each provider by its key, where no world is open; make nothing."""
    try:
        store = open_store(root, settings, create=False)
    except StoreMissing:
        return {}
    with closing(store):
        listed = asyncio.run(store.jobs.list(limit=EVERY_JOB))
    newest: dict[str, CrawlJob] = {}
    for job in listed:
        if job.provider and job.kind is JobKind.CRAWL:
            newest.setdefault(job.provider, job)
    return newest


def due_s(job: CrawlJob | None) -> float:
    """Return when a provider is due again: a week after its crawl began, or at once."""
    if job is None or not job.state.is_final:
        return 0.0
    return (job.started_at_s or job.created_at_s) + WEEK_S
