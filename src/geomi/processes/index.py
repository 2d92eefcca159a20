"""Index the pages of crawls while they run, in a process of its own; this module has both ends.

The crawl never waits for this process and never fails with it. If the process cannot be started,
or dies, geomi warns, and the next search indexes what is left. When the crawl is over, the process
gets a second message and indexes the rest, and the crawl's process waits for it. On SIGTERM, or
when its starter has ended, it ends after its present batch.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path

from geomi.adapters.machine.processes import (
    PipeSink,
    ProcessWorkerHandle,
    StartedProcess,
    carry_out,
    start_worker,
)
from geomi.app import open_directory
from geomi.app.directory import DataDirectory
from geomi.app.index import open_search_index, update_index
from geomi.app.use.crawl import Plan, crawl, judge_run
from geomi.app.use.provider_session import ProviderSession, SessionPart, SessionReport
from geomi.engine.enrich.loop import enrich_continuously
from geomi.engine.worker.supervisor import CrawlReport, Supervisor
from geomi.errors import ConfigError, GeomiError, first_error
from geomi.model.event import Warned
from geomi.model.job import StopReason
from geomi.settings.options import Settings

INDEX_PROGRAM = "geomi.processes.index"
FINISH = "finish"
_HINT = "the next `geomi search` or `geomi enrich` continues"


@dataclass(frozen=True, slots=True)
class IndexOrder:
    """The order of an index worker: the job's place; without a job it indexes those of all."""

    root: Path
    settings: Settings
    job: str


class IndexingProcess:
    """The index worker of one job, or of all, as the crawling process sees it."""

    def __init__(self, home: DataDirectory, job: str = "") -> None:
        self._sink = home.world.sink
        self._job = job
        self._started: StartedProcess = start_worker(INDEX_PROGRAM)
        order = IndexOrder(home.root.resolve(), home.settings, job)
        self._hand = ProcessWorkerHandle("indexer", self._started, order, home.world.sink)

    async def run(self) -> None:
        """Pass its events on until it ends."""
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
    home: DataDirectory,
    plan: Plan,
    *,
    standby: Sequence[StartedProcess] = (),
    on_start: Callable[[Supervisor], None] = lambda _: None,
    on_end: Callable[[Callable[[], None]], None] = lambda _: None,
) -> CrawlReport:
    """Run a crawl as `crawl` does, and index its pages at the same time.

    Args:
        on_end: called when the crawl is over and the rest is indexed, with what ends that.
    """
    refuse_unindexed(plan)
    begun: list[IndexingProcess] = []
    try:
        async with asyncio.TaskGroup() as group:

            def begin(job: str) -> None:
                begun.append(IndexingProcess(home, job))
                group.create_task(begun[0].run(), name="index")

            def start(supervisor: Supervisor) -> None:
                on_start(supervisor)
                begin(supervisor.job)

            report = await crawl(home, plan, standby=standby, on_start=start, is_judged=False)
            if not begun:  # it had ended before
                begin(report.job.id)
            if report.stop is StopReason.INTERRUPTED:
                begun[0].leave()
            else:
                on_end(begun[0].leave)
                begun[0].finish()
    except* GeomiError as failures:
        for one in begun:
            one.leave()
        raise first_error(failures) from failures
    return await judge_run(home, report)


async def run_session_and_index(
    home: DataDirectory,
    session: ProviderSession,
    *,
    on_end: Callable[[Callable[[], None]], None] = lambda _: None,
) -> SessionReport:
    """Crawl the providers of a session, and index their pages at the same time.

    Args:
        on_end: as `crawl_and_index` takes it.
    """
    indexing = IndexingProcess(home)
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(indexing.run(), name="index")
            report = await session.run()
            if report.is_interrupted:
                indexing.leave()
            else:
                on_end(indexing.leave)
                indexing.finish()
    except* GeomiError as failures:
        indexing.leave()
        raise first_error(failures) from failures
    return replace(report, parts=tuple([await _judged(home, part) for part in report.parts]))


async def _judged(home: DataDirectory, part: SessionPart) -> SessionPart:
    """Judge the run of one provider, now that its pages are indexed."""
    if part.run is None:
        return part
    report = await judge_run(home, part.run.report)
    return replace(part, run=replace(part.run, report=report))


def refuse_unindexed(plan: Plan) -> None:
    """Raise for pages that their own settings keep out of the index."""
    if not plan.resolved.config.analysis.index:
        raise ConfigError(
            "analysis.index = false keeps these pages out of the index", hint="leave out --index"
        )


def live(pipe: Connection) -> None:
    """Take the order, carry it out, and say how it ended."""
    carry_out(pipe, IndexOrder, lambda order: _index(order, pipe))


async def _index(order: IndexOrder, pipe: Connection) -> StopReason | None:
    sink = PipeSink(pipe)
    over, leave = asyncio.Event(), asyncio.Event()
    _obey_starter(pipe, over, leave)
    async with (
        open_directory(order.root, order.settings, lambda _: sink, create=False) as home,
        open_search_index(home) as search_index,
    ):
        await enrich_continuously(home.world, search_index, over, only=order.job)
        if not leave.is_set():
            await update_index(home, search_index, only=order.job, leave=leave)
        sink.flush()
    return None


def _obey_starter(pipe: Connection, over: asyncio.Event, leave: asyncio.Event) -> None:
    """Watch for the starter's message, its end, and signals."""
    loop = asyncio.get_running_loop()

    def go() -> None:
        leave.set()
        over.set()

    def listen() -> None:
        try:
            pipe.recv()
            over.set()
        except (EOFError, OSError):
            loop.remove_reader(pipe.fileno())
            go()

    loop.add_reader(pipe.fileno(), listen)
    loop.add_signal_handler(signal.SIGTERM, go)


if __name__ == "__main__":
    # The order names its class by this module, which runs as `__main__` here.
    from geomi.processes import index

    index.live(Connection(int(sys.argv[1])))
