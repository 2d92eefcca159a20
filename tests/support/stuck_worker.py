"""A worker process whose event loop does not run again: `python -m tests.support.stuck_worker`.

Its order says for how many beats it is well.
"""

from __future__ import annotations

import asyncio
import sys
import time
from multiprocessing.connection import Connection

from geomi.adapters.machine import processes
from geomi.model.job import StopReason


async def _work(beats: int) -> StopReason:
    await asyncio.sleep(beats * processes.BEAT_S)
    while True:
        time.sleep(1)  # noqa: ASYNC251  # that is what is wrong with it


if __name__ == "__main__":
    processes.ORPHAN_S = 0.1
    processes.carry_out(Connection(int(sys.argv[1])), int, _work)
