"""A worker process: forked by `geomi crawl`, or run as `python -m geomi.worker DESCRIPTOR`.

Its order comes through the pipe whose descriptor it is given, its events and its last word go back
the same way; `adapters/machine/processes.py` is the other end.
"""

from __future__ import annotations

import asyncio
import sys
from multiprocessing.connection import Connection

from geomi.adapters.machine.processes import (
    PipeSink,
    receive_order,
    relax_garbage_collector,
    run_order,
    stop_on_signal,
)
from geomi.app import Order, open_home, worker_for
from geomi.engine import jobs
from geomi.engine.visit.patterns import read_site_decisions
from geomi.engine.worker.heartbeat import with_heartbeat
from geomi.model.job import StopReason
from geomi.model.worker import WorkerRole


def live(pipe: Connection) -> None:
    """Take the order, carry it out, and say how it ended."""
    order = receive_order(pipe)
    if order is None:
        return
    assert isinstance(order, Order)
    relax_garbage_collector()
    run_order(lambda: asyncio.run(_work(order, pipe)), pipe)


async def _work(order: Order, pipe: Connection) -> StopReason:
    sink = PipeSink(pipe)
    async with open_home(order.root, order.settings, lambda _: sink, owner=order.owner) as home:
        job = await jobs.find(home.world, order.job)
        worker = worker_for(
            home, job, workers=order.workers, reviews=await read_site_decisions(home.world)
        )
        stop_on_signal(pipe, worker.drain, worker.abandon)
        await home.heart.enrol(WorkerRole.WORKER, [job.config])
        home.heart.join(job.id)
        stop = await with_heartbeat(home.heart, worker.run())
        sink.flush()
        return stop


if __name__ == "__main__":
    live(Connection(int(sys.argv[1])))
