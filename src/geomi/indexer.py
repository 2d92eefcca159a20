"""A process that indexes the pages of one crawl beside it: `python -m geomi.indexer DESCRIPTOR`.

Its order comes through the pipe whose descriptor it is given. It follows the crawl until a second
message says that no more will come, indexes what is left, and ends. Where the process that started
it is gone, or tells it to leave (SIGTERM), it ends after the batch under way: whoever searches or
enriches next goes on.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from multiprocessing.connection import Connection

from geomi.adapters.machine.processes import PipeSink, receive_order, run_order
from geomi.app import open_home
from geomi.app.indexing import IndexOrder
from geomi.app.shelf import bring_up, open_shelf
from geomi.engine.enrich.loop import enrich_continuously


def live(pipe: Connection) -> None:
    """Take the order, carry it out, and say how it ended."""
    order = receive_order(pipe)
    if order is None:
        return
    assert isinstance(order, IndexOrder)
    run_order(lambda: asyncio.run(_index(order, pipe)), pipe)


async def _index(order: IndexOrder, pipe: Connection) -> None:
    sink = PipeSink(pipe)
    over, leave = asyncio.Event(), asyncio.Event()
    _obey(pipe, over, leave)
    async with (
        open_home(order.root, order.settings, lambda _: sink, create=False) as home,
        open_shelf(home) as shelf,
    ):
        await enrich_continuously(home.world, shelf, over, only=order.job)
        if not leave.is_set():
            await bring_up(home, shelf, only=order.job, leave=leave)
        sink.flush()


def _obey(pipe: Connection, over: asyncio.Event, leave: asyncio.Event) -> None:
    """Let the starter's word, its end, and signals be heard."""
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
    live(Connection(int(sys.argv[1])))
