"""A process of a served geomi: it crawls for every tenant, understands what was crawled, or
prepares domains.

`geomi serve` starts it as `python -m geomi.servant DESCRIPTOR`, and
`adapters/machine/processes.py` is the other end of its pipe. It ends
when it is told to, and when whoever started it is gone.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from multiprocessing.connection import Connection

from geomi.adapters.machine.processes import (
    PipeSink,
    WorkerProcessResult,
    receive_order,
    relax_garbage_collector,
    stop_on_signal,
)
from geomi.app import Home, open_home
from geomi.app.serve import Task, serve
from geomi.engine.worker.job_pool import JobPool
from geomi.errors import GeomiError
from geomi.model.job import StopReason
from geomi.service.crew import Calling, Errand
from geomi.service.seeds import work_for_all
from geomi.service.understand import understand_for_all


def live(pipe: Connection) -> None:
    """Take the errand, run it, and say how it ended."""
    errand = receive_order(pipe)
    if errand is None:
        return
    assert isinstance(errand, Errand)
    relax_garbage_collector()
    try:
        asyncio.run(_run(errand, pipe))
        word = WorkerProcessResult(StopReason.INTERRUPTED)
    except GeomiError as error:
        word = WorkerProcessResult(None, error)
    with suppress(OSError):  # the starter may be gone
        pipe.send(word)
    pipe.close()


async def _run(errand: Errand, pipe: Connection) -> None:
    sink = PipeSink(pipe)
    async with open_home(errand.root, errand.settings, lambda _: sink) as home:
        match errand.calling:
            case Calling.CRAWL:
                await _crawl(home, errand, pipe)
            case Calling.UNDERSTAND:
                await _until_told(understand_for_all, home, pipe)
            case Calling.PREPARE:
                await _until_told(work_for_all, home, pipe)
        sink.flush()


async def _crawl(home: Home, errand: Errand, pipe: Connection) -> None:
    def begin(shift: JobPool) -> None:
        stop_on_signal(pipe, shift.interrupt, shift.interrupt)

    await serve(home, Task(concurrency=errand.concurrency, measures=True), on_start=begin)


async def _until_told(
    work: Callable[[Home, asyncio.Event], Awaitable[None]], home: Home, pipe: Connection
) -> None:
    leave = asyncio.Event()
    stop_on_signal(pipe, leave.set, leave.set)
    await work(home, leave)


if __name__ == "__main__":
    live(Connection(int(sys.argv[1])))
