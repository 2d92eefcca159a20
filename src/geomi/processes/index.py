"""Index the pages of crawls while they run, in processes of their own; this module has both ends.

The crawl never waits for these processes and never fails with them. One that dies is replaced, a
few times, or more often where it is known what it died of. If one cannot be started, geomi warns,
and the others or the next search index what is left. When the crawl is over,
they get a second message and index the rest, and the crawl's process waits for them. On SIGTERM,
or when its starter has ended, each ends after what it has in hand.
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
from geomi.app.index import open_search_index, prepare_index, update_index
from geomi.app.recovery import recover
from geomi.app.use.crawl import Plan, crawl, judge_run
from geomi.app.use.provider_session import ProviderSession, SessionPart, SessionReport
from geomi.engine.enrich.loop import SearchIndex, enrich_all, enrich_continuously
from geomi.engine.worker.supervisor import CrawlReport, Deaths, Supervisor
from geomi.errors import ConfigError, GeomiError, first_error
from geomi.model.event import Warned
from geomi.model.job import StopReason
from geomi.model.worker import WorkKind
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


class IndexingProcesses:
    """The index workers of one job, or of all, as the process that started them sees them.

    Args:
        workers: how many; None for as many as the settings say.
    """

    def __init__(self, home: DataDirectory, job: str = "", *, workers: int | None = None) -> None:
        self._home = home
        self._sink = home.world.sink
        self._job = job
        self._order = IndexOrder(home.root.resolve(), home.settings, job)
        self._is_finishing = self._is_leaving = False
        self._deaths = Deaths()
        many = home.settings.index_workers if workers is None else workers
        self._running = [self._start() for _ in range(many)]

    async def run(self) -> None:
        """Pass their events on until they end."""
        async with asyncio.TaskGroup() as group:
            for place in range(len(self._running)):
                group.create_task(self._fill(place), name="indexer")

    async def _fill(self, place: int) -> None:
        """Keep one place filled until its process ends by itself."""
        try:
            while await self._running[place].handle.wait() is None:
                explained = bool(await recover(self._home))
                if self._is_leaving or not self._deaths.allow(explained=explained):
                    message = "a process that indexes pages died"
                    self._sink.emit(Warned(self._job, message, _HINT))
                    return
                self._running[place] = self._start()
        except GeomiError as error:
            message = f"the pages are not indexed: {error.message}"
            self._sink.emit(Warned(self._job, message, error.hint or _HINT))

    def _start(self) -> _IndexProcess:
        started = start_worker(INDEX_PROGRAM)
        handle = ProcessWorkerHandle(
            "indexer", started, self._order, self._sink, answer_s=self._home.settings.answer_s
        )
        if self._is_finishing:
            _finish(started)
        return _IndexProcess(started, handle)

    def finish(self) -> None:
        """Let them index what is left, and end."""
        self._is_finishing = True
        for one in self._running:
            _finish(one.started)

    def leave(self) -> None:
        """Let them end after what they have in hand."""
        self._is_leaving = True
        for one in self._running:
            one.handle.drain()


@dataclass(frozen=True, slots=True)
class _IndexProcess:
    started: StartedProcess
    handle: ProcessWorkerHandle


def _finish(started: StartedProcess) -> None:
    with suppress(OSError):  # it has ended already
        started.pipe.send(FINISH)


async def enrich_together(
    home: DataDirectory,
    search_index: SearchIndex,
    leave: asyncio.Event,
    *,
    only: str = "",
    once: bool = False,
    again: bool = False,
) -> None:
    """Enrich in this process, and in as many others as the settings say.

    Where a page has killed one that enriched, only others do it: so this one outlives the next.

    Args:
        only: the one job that is meant.
        once: end when no page waits.
        again: first enrich all pages again.
    """
    await prepare_index(home, search_index, only=only, again=again)
    is_careful = bool(await home.store.suspects.list(WorkKind.DOCUMENT, limit=1))
    many = home.settings.index_workers - (0 if is_careful else 1)
    others = IndexingProcesses(home, only, workers=many)
    try:
        async with asyncio.TaskGroup() as group:
            running = group.create_task(others.run(), name="index")
            if once:
                others.finish()
            if is_careful:
                await _all_ended(running, leave)
            elif once:
                await enrich_all(home.world, search_index, only=only, leave=leave)
            else:
                await enrich_continuously(home.world, search_index, leave, only=only)
            if leave.is_set():
                others.leave()
    except* GeomiError as failures:
        others.leave()
        raise first_error(failures) from failures
    if once:  # what one of them left that was killed
        await update_index(home, search_index, only=only, leave=leave)


async def _all_ended(running: asyncio.Task[None], leave: asyncio.Event) -> None:
    """Wait until the others have ended, or are to leave."""
    leaving = asyncio.ensure_future(leave.wait())
    try:
        await asyncio.wait((running, leaving), return_when=asyncio.FIRST_COMPLETED)
    finally:
        leaving.cancel()


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
    begun: list[IndexingProcesses] = []
    try:
        async with asyncio.TaskGroup() as group:

            def begin(job: str) -> None:
                begun.append(IndexingProcesses(home, job))
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
    indexing = IndexingProcesses(home)
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


async def _index(order: IndexOrder, pipe: Connection) -> StopReason:
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
    return StopReason.DONE


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
