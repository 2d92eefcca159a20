"""Work on a dataset in a seed worker process: `geomi seeds run --workers N` starts several.

The process reads its order from a pipe; its events and its result go back the same way. It ends
when the queues are empty, on a signal, and when its starter has ended.
"""

from __future__ import annotations

import sys
from multiprocessing.connection import Connection

from geomi.adapters.machine.processes import (
    PipeSink,
    carry_out,
    relax_garbage_collector,
    stop_on_signal,
)
from geomi.app import open_directory
from geomi.app.use.datasets import SeedOrder, SeedWorkers, dataset_tenant, open_dataset, seeding_for
from geomi.model.job import StopReason


def live(pipe: Connection) -> None:
    """Take the order, carry it out, and say how it ended."""
    carry_out(pipe, SeedOrder, lambda order: _work(order, pipe))


async def _work(order: SeedOrder, pipe: Connection) -> StopReason:
    relax_garbage_collector()
    sink = PipeSink(pipe)
    dataset = open_dataset(order.dataset)
    async with open_directory(order.root, order.settings, lambda _: sink) as opened:
        home = opened.open_for(dataset_tenant(dataset, order.settings))
        workers = SeedWorkers(home, seeding_for(home, order.config, dataset), order)
        stop_on_signal(pipe, workers.interrupt, workers.interrupt)
        await workers.run()
        sink.flush()
    return StopReason.INTERRUPTED if workers.was_interrupted else StopReason.DONE


if __name__ == "__main__":
    live(Connection(int(sys.argv[1])))
