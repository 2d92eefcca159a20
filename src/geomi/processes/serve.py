"""Run the service workers: some crawl for every tenant, one enriches, one prepares domains.

The server never crawls, so that it answers while they work. `ServiceProcesses` replaces a process
that died or does not answer, after a pause that grows where nobody knows what it died of. The
events of the processes reach the server through their pipes; its metrics count them. A process ends
on a signal, and when its starter has ended.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from multiprocessing.connection import Connection
from pathlib import Path

from geomi.adapters.machine.processes import (
    PipeSink,
    ProcessWorkerHandle,
    carry_out,
    relax_garbage_collector,
    start_worker,
    stop_on_signal,
)
from geomi.app import DataDirectory, open_directory
from geomi.engine.worker.job_pool import JobPool
from geomi.engine.world import wait_for_event
from geomi.errors import GeomiError
from geomi.model.event import Warned
from geomi.model.job import StopReason
from geomi.model.worker import Suspect
from geomi.ports.runtime import EventSink
from geomi.processes.crawl import WorkerTask, serve_jobs
from geomi.service.enrichment import enrich_for_all
from geomi.service.seeds import work_for_all
from geomi.settings.options import Settings

SERVE_PROGRAM = "geomi.processes.serve"
# How long nobody follows one that died, longer each time until one of them has lived for a while.
FIRST_REST_S, LONGEST_REST_S = 0.5, 60.0
LIVED_S = 300.0


class ServiceProcessKind(StrEnum):
    """What a process of the service is there for."""

    CRAWL = "crawl"
    UNDERSTAND = "understand"
    PREPARE = "prepare domains"


@dataclass(frozen=True, slots=True)
class ServeOrder:
    """The order of a service worker: where the data are, and what to do with them.

    Args:
        concurrency: requests at once, if it crawls.
    """

    root: Path
    settings: Settings
    kind: ServiceProcessKind
    concurrency: int = 1


async def _nothing_known() -> Sequence[Suspect]:
    return ()


class ServiceProcesses:
    """Keeps the service workers running until a signal ends them.

    Args:
        sink: receives the events of all of them.
        explain: looks after the dead, and returns what they died of.
    """

    def __init__(
        self,
        orders: tuple[ServeOrder, ...],
        sink: EventSink,
        explain: Callable[[], Awaitable[Sequence[Suspect]]] = _nothing_known,
    ) -> None:
        self._orders = orders
        self._explain = explain
        self._sink = sink
        self._handles: set[ProcessWorkerHandle] = set()
        self._leaving = asyncio.Event()

    async def run(self) -> None:
        """Keep every place filled; return when all have ended after `drain`."""
        async with asyncio.TaskGroup() as group:
            for number, order in enumerate(self._orders):
                group.create_task(self._fill(order), name=f"{order.kind} {number}")

    def drain(self) -> None:
        """Let everybody finish what is in flight; called again, now."""
        self._leaving.set()
        for handle in self._handles:
            handle.drain()

    @property
    def is_whole(self) -> bool:
        """Whether every place is filled."""
        return len(self._handles) == len(self._orders)

    def trouble(self) -> str:
        """Say which processes live and do not answer; empty if there are none."""
        silent = sorted(handle.owner for handle in self._handles if not handle.is_answering)
        return f"service workers do not answer: {', '.join(silent)}" if silent else ""

    async def _fill(self, order: ServeOrder) -> None:
        rest_s = FIRST_REST_S
        while not self._leaving.is_set():
            began_s = asyncio.get_running_loop().time()
            problem = await self._live(order)
            if self._leaving.is_set():
                return
            lived_s = asyncio.get_running_loop().time() - began_s
            is_new = lived_s > LIVED_S or await self._is_explained()
            rest_s = FIRST_REST_S if is_new else min(rest_s * 2, LONGEST_REST_S)
            told = f"the service worker to {order.kind} {problem}; another replaces it"
            self._sink.emit(Warned("", f"{told} in {rest_s:g} s"))
            await wait_for_event(self._leaving, rest_s)

    async def _is_explained(self) -> bool:
        """Whether it is known what a process died of; it does not die of that again and again."""
        try:
            return bool(await self._explain())
        except GeomiError as error:  # a store or an archive that is away
            self._sink.emit(Warned("", error.message, error.hint))
            return False

    async def _live(self, order: ServeOrder) -> str:
        """Run one life; return how it ended."""
        try:
            started = await asyncio.to_thread(start_worker, SERVE_PROGRAM)
        except OSError as error:  # no handle or no memory is left for it now
            return f"could not be started: {error.strerror}"
        handle = ProcessWorkerHandle(
            str(order.kind), started, order, self._sink, answer_s=order.settings.answer_s
        )
        self._handles.add(handle)
        if self._leaving.is_set():
            handle.drain()
        try:
            return "died" if await handle.wait() is None else "ended"
        except GeomiError as error:
            return f"gave up: {error.message}"
        finally:
            self._handles.discard(handle)


def live(pipe: Connection) -> None:
    """Take the order, carry it out, and say how it ended."""
    carry_out(pipe, ServeOrder, lambda order: _run(order, pipe))


async def _run(order: ServeOrder, pipe: Connection) -> StopReason:
    relax_garbage_collector()
    sink = PipeSink(pipe)
    async with open_directory(order.root, order.settings, lambda _: sink) as home:
        match order.kind:
            case ServiceProcessKind.CRAWL:
                await _crawl(home, order, pipe)
            case ServiceProcessKind.UNDERSTAND:
                await _until_told(enrich_for_all, home, pipe)
            case ServiceProcessKind.PREPARE:
                await _until_told(work_for_all, home, pipe)
        sink.flush()
    return StopReason.INTERRUPTED


async def _crawl(home: DataDirectory, order: ServeOrder, pipe: Connection) -> None:
    def begin(pool: JobPool) -> None:
        stop_on_signal(pipe, pool.interrupt, pool.interrupt)

    await serve_jobs(home, WorkerTask(concurrency=order.concurrency, measures=True), on_start=begin)


async def _until_told(
    work: Callable[[DataDirectory, asyncio.Event], Awaitable[None]],
    home: DataDirectory,
    pipe: Connection,
) -> None:
    leave = asyncio.Event()
    stop_on_signal(pipe, leave.set, leave.set)
    await work(home, leave)


if __name__ == "__main__":
    # The order names its class by this module, which runs as `__main__` here.
    from geomi.processes import serve

    serve.live(Connection(int(sys.argv[1])))
