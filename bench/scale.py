"""How the frontier behaves with very many hosts: rate, memory, fairness, politeness.

    python -m bench.scale [--urls 2000000] [--hosts 20000] [--pages 60000] [--workers 4]

The workers, the road of a page, the store and the archive are the product's own, on SQLite; only
the web is simulated and time is virtual (`bench/virtual.py`), so that days of politeness pass in
minutes. The rate is what politeness and latency allow; CPU is what this machine spent on a page of
2 KB, whose parsing costs little: it is what scheduling costs.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import resource
import shutil
import sys
import tempfile
import time
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median, quantiles

from bench.simulated import SimulatedNet, SimulatedWeb
from bench.virtual import VirtualClock, VirtualLoop
from geomi import __version__
from geomi.adapters.blob.directory import DirectoryArchive
from geomi.adapters.blob.spool import DirectorySpool
from geomi.adapters.compute.child import ChildCompute
from geomi.adapters.machine.disk import DirectoryDisk
from geomi.adapters.machine.vault import FernetVault
from geomi.adapters.store.store import DatabaseStore, open_sqlite
from geomi.adapters.telemetry.fan_out import EventFanOut
from geomi.engine import jobs
from geomi.engine.visit.rules import job_rules
from geomi.engine.worker.loop import Worker
from geomi.engine.world import World
from geomi.model.config import CrawlConfig, Within
from geomi.model.job import Commission, CrawlJob
from geomi.url.parse import split

SEEDS = 200
CONCURRENCY = 256  # of each worker, as a machine of a fleet has it
MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Mark:
    """How far the crawl was at one moment."""

    pages: int
    known: int
    virtual_s: float
    cpu_s: float
    rss_bytes: int


def main() -> int:
    """Build the web, crawl a part of it, report."""
    parser = argparse.ArgumentParser(description="Crawl a simulated web in virtual time.")
    parser.add_argument("--urls", type=int, default=2_000_000)
    parser.add_argument("--hosts", type=int, default=20_000)
    parser.add_argument("--pages", type=int, default=60_000, help="how many to fetch")
    parser.add_argument("--workers", type=int, default=4)
    options = parser.parse_args()
    web = SimulatedWeb(urls=options.urls, hosts=options.hosts)
    print(f"a web of {web.urls:,} URLs on {web.hosts:,} hosts; {options.workers} workers")
    folder = Path(tempfile.mkdtemp(prefix="geomi-scale-"))
    try:
        with asyncio.Runner(loop_factory=VirtualLoop) as runner:
            runner.run(crawl(folder, web, pages=options.pages, workers=options.workers))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0


async def crawl(folder: Path, web: SimulatedWeb, *, pages: int, workers: int) -> None:
    """Crawl with every worker on this one loop, and look at it ten times on the way."""
    clock, rng = VirtualClock(), random.Random(7)
    net = SimulatedNet(web, clock, rng)
    with closing(open_sqlite(folder / "geomi.db", tenant="local")) as store:
        worlds = [_world(store, net, clock, folder, f"w-{number}") for number in range(workers)]
        job = await _start(worlds[0], web, pages)
        async with asyncio.TaskGroup() as group:
            watching = group.create_task(_watch(worlds[0], job, pages))
            async with asyncio.TaskGroup() as crew:
                for world in worlds:
                    crew.create_task(_worker(world, job).run())
            watching.cancel()
        for world in worlds:
            await world.archive.aclose()
        found = await worlds[0].store.jobs.get(job.id)
        assert found is not None
    _report(net, found, (folder / "geomi.db").stat().st_size)


def _world(
    store: DatabaseStore, net: SimulatedNet, clock: VirtualClock, folder: Path, owner: str
) -> World:
    return World(
        clock=clock, fetcher=net, resolver=net, store=store,
        archive=DirectoryArchive(folder, worker=owner, software=f"geomi/{__version__}"),
        spool=DirectorySpool(folder), compute=ChildCompute(), sink=EventFanOut(),
        disk=DirectoryDisk(folder, 0), rng=random.Random(owner), version=__version__, owner=owner,
        vault=FernetVault(folder, ""),
    )  # fmt: skip


async def _start(world: World, web: SimulatedWeb, pages: int) -> CrawlJob:
    default = CrawlConfig()
    config = replace(
        default,
        scope=replace(default.scope, within=Within.ANY, sitemaps=False),
        limits=replace(default.limits, max_pages=pages, max_depth=1000),
        politeness=replace(default.politeness, concurrency=CONCURRENCY),
        store=replace(default.store, raw=False),
    )
    step = max(1, web.hosts // SEEDS)
    seeds = [split(web.front(host)) for host in range(0, web.hosts, step)]
    rules = job_rules(world, config, [seed.href for seed in seeds])
    return await jobs.start(world, seeds, rules, Commission("local"))


def _worker(world: World, job: CrawlJob) -> Worker:
    rules = job_rules(world, job.config, job.seeds)
    return Worker(world, job, rules, concurrency=CONCURRENCY)


async def _watch(world: World, job: CrawlJob, pages: int) -> None:
    """Print a line for every tenth of the pages."""
    head = ("pages", "URLs known", "virtual s", "pages/s", "CPU ms/p", "RSS MB")
    print("".join(f"{name:>11}" for name in head))
    last = await _mark(world, job)
    while True:
        await asyncio.sleep(1.0)
        now = await _mark(world, job)
        if now.pages - last.pages < pages / 10:
            continue
        gained = now.pages - last.pages
        rate = gained / (now.virtual_s - last.virtual_s)
        cpu_ms = (now.cpu_s - last.cpu_s) * 1000 / gained
        print(
            f"{now.pages:>11,}{now.known:>11,}{now.virtual_s:>11,.0f}{rate:>11.0f}{cpu_ms:>11.2f}"
            f"{now.rss_bytes / MIB:>11.0f}",
            flush=True,
        )
        last = now


async def _mark(world: World, job: CrawlJob) -> Mark:
    found = await world.store.jobs.get(job.id)
    assert found is not None
    at_s, stats = asyncio.get_running_loop().time(), found.stats
    return Mark(stats.settled, stats.discovered, at_s, time.process_time(), _resident_bytes())


def _resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def _report(net: SimulatedNet, job: CrawlJob, database_bytes: int) -> None:
    counts = sorted(visits.count for visits in net.seen.values())
    asked = sum(counts)
    rests = [v.shortest_rest_s for v in net.seen.values() if v.count > 1]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    most = quantiles(counts, n=100)[98] if len(counts) > 1 else counts[0]
    print(f"\nasked {asked:,} times on {len(counts):,} of {net.web.hosts:,} hosts")
    print(f"a host: median {median(counts):.0f}, 99 % at most {most:.0f}, most {counts[-1]} times")
    print(f"politeness: shortest rest {min(rests, default=0):.3f} s, overlaps {net.overlaps}")
    print(
        f"urls={job.stats.discovered} pages={job.stats.settled} peak_rss_mb={peak / MIB:.0f} "
        f"database_bytes_url={database_bytes / max(1, job.stats.discovered):.0f} "
        f"overlaps={net.overlaps}"
    )


if __name__ == "__main__":
    sys.exit(main())
