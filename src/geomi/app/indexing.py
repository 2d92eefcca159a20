"""A crawl whose pages are indexed beside it, by a process of its own.

The crawl never waits for it and never fails with it: a process that could not be started, or died,
is told of, and what it has left is indexed by the next search. When the crawl is over, the process
indexes what is left, which is waited for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from geomi.adapters.machine.processes import ProcessWorkerHandle, StartedProcess, start_worker
from geomi.app.home import Home
from geomi.app.plan import Plan
from geomi.app.run import crawl
from geomi.engine.worker.supervisor import CrawlReport, Supervisor
from geomi.errors import ConfigError, GeomiError, first_error
from geomi.model.event import Warned
from geomi.model.job import StopReason
from geomi.settings.options import Settings

PROGRAM = "geomi.indexer"
FINISH = "finish"

_HINT = "the next `geomi search` or `geomi enrich` goes on"


@dataclass(frozen=True, slots=True)
class IndexOrder:
    """What an indexing process is told: where the job is."""

    root: Path
    settings: Settings
    job: str


class Indexing:
    """The process that indexes one job, as whoever crawls sees it."""

    def __init__(self, home: Home, job: str) -> None:
        self._sink = home.world.sink
        self._job = job
        self._started: StartedProcess = start_worker(PROGRAM)
        order = IndexOrder(home.root.resolve(), home.settings, job)
        self._hand = ProcessWorkerHandle("indexer", self._started, order, home.world.sink)

    async def run(self) -> None:
        """Hand on what it tells, until it ends."""
        try:
            await self._hand.wait()
        except GeomiError as error:
            message = f"the pages are not indexed: {error.message}"
            self._sink.emit(Warned(self._job, message, error.hint or _HINT))

    def finish(self) -> None:
        """Let it index what is left, and end."""
        with suppress(OSError):  # it has ended already
            self._started.pipe.send(FINISH)

    def leave(self) -> None:
        """Let it end after the batch under way."""
        self._hand.drain()


async def crawl_and_index(
    home: Home,
    plan: Plan,
    *,
    standby: Sequence[StartedProcess] = (),
    on_start: Callable[[Supervisor], None] = lambda _: None,
    on_end: Callable[[Indexing], None] = lambda _: None,
) -> CrawlReport:
    """Run a crawl as `crawl` does, and let its pages be found as they come.

    Args:
        on_end: called when the crawl is over and the rest is indexed, with what can be told to
            leave.
    """
    if not plan.resolved.config.analysis.index:
        raise ConfigError(
            "analysis.index = false keeps these pages out of the index", hint="leave out --index"
        )
    begun: list[Indexing] = []
    try:
        async with asyncio.TaskGroup() as group:

            def begin(job: str) -> None:
                begun.append(Indexing(home, job))
                group.create_task(begun[0].run(), name="index")

            def start(supervisor: Supervisor) -> None:
                on_start(supervisor)
                begin(supervisor.job)

            report = await crawl(home, plan, standby=standby, on_start=start)
            if not begun:  # it had ended before
                begin(report.job.id)
            if report.stop is StopReason.INTERRUPTED:
                begun[0].leave()
            else:
                on_end(begun[0])
                begun[0].finish()
    except* GeomiError as failures:
        for one in begun:
            one.leave()
        raise first_error(failures) from failures
    return report
