"""A crawl in a process of its own, so that its memory can be measured: `python -m …`.

It reads one order from its standard input and writes one report to its standard output, both JSON,
and imports nothing of the farm, whose bombs would count as its own memory.
The loop's own heart is watched meanwhile: what its thread computes between two beats is the longest
time in which nothing else could be served, however busy the machine is.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from geomi.app import crawl as run_crawl
from geomi.model.event import PageSettled
from tests.support.crawl import LOCAL, Ear, home_in, plan, read_records

BEAT_S = 0.02
MAX_ENTRIES = 100_000


@dataclass(frozen=True)
class Order:
    """What to crawl.

    Args:
        resolve: where each host is found, as `Settings.resolve` has it.
        settings: of the job, `name=value`.
    """

    root: str
    seeds: Sequence[str]
    resolve: Sequence[str]
    settings: Sequence[str]


@dataclass(frozen=True)
class Report:
    """What came of it.

    Args:
        outcomes: of every entry, by URL.
        titles: of every page that was collected.
        fetch_s: how long each URL took to fetch.
        peak_kib: the most memory the process had, its children apart.
        stall_s: the longest computation that its loop had to wait for.
    """

    outcomes: dict[str, str]
    titles: list[str]
    fetch_s: dict[str, float]
    peak_kib: int
    stall_s: float


async def crawl(order: Order) -> Report:
    """Crawl to the end."""
    ear, heart = Ear(), Heart()
    settings = replace(LOCAL, resolve=tuple(order.resolve))
    async with home_in(Path(order.root), ear, settings) as home:
        beating = asyncio.create_task(heart.beat(), name="heart")
        done = await run_crawl(home, plan(order.seeds, assignments=order.settings))
        beating.cancel()
        peak_kib = _peak_kib()  # before all records are read at once
        entries = await home.world.store.census.entries(
            done.job.id, state=None, after=b"", limit=MAX_ENTRIES
        )
        return Report(
            {entry.url: str(entry.outcome) for entry in entries},
            [record["title"] for record in read_records(home.root)],
            {event.url: event.fetch_ms / 1000 for event in ear.of(PageSettled)},
            peak_kib,
            heart.longest_s,
        )


class Heart:
    """Beats as long as the loop lets it."""

    def __init__(self) -> None:
        self.longest_s = 0.0

    async def beat(self) -> None:
        """Note the longest computation between two beats."""
        last_s = time.thread_time()
        while True:
            await asyncio.sleep(BEAT_S)
            now_s = time.thread_time()
            self.longest_s, last_s = max(self.longest_s, now_s - last_s), now_s


def _peak_kib() -> int:
    status = Path("/proc/self/status").read_text("ascii")
    (peak,) = [line for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(peak.split()[1])


if __name__ == "__main__":
    ordered = Order(**json.load(sys.stdin))
    json.dump(asdict(asyncio.run(crawl(ordered))), sys.stdout)
