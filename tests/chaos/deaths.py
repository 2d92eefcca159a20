"""Deaths: at random moments, and at every durable operation in turn; and sleep past a lease."""

from __future__ import annotations

import os
import random
import signal
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress

from geomi.engine.host.lease import lease_s
from geomi.model.config import CrawlConfig, HttpRules, RobotsRules
from tests.chaos.ground import LONGEST_CRAWL_S, Case, Ground, wait_until
from tests.chaos.layer import Plan
from tests.chaos.process import Crawl
from tests.chaos.table import Row

# A crawl of 200 pages takes about a second and a half on a machine that does nothing else.
LONGEST_LIFE_S = 1.3
# Kills that do not look where the crawl is: many meet it while it starts, or puts things in order.
BLIND_SHARE = 0.3
MOST_REQUESTS = 80
# Where hosts rest so long, a page is committed before the next one is asked for, unless the machine
# is overloaded: about one page of each lease is on its way, and asked for again.
ORDINARY_S = 0.2
# How short a lease is for those who outwait it.
SILENCE_S = 1.0
CONFIG = CrawlConfig(http=HttpRules(total_timeout_s=1.0), robots=RobotsRules(total_timeout_s=1.0))
SHORT = ("--set", "http.total_timeout_s=1", "--set", "robots.total_timeout_s=1")


def kill_at_random(ground: Ground, *, kills: int, workers: int, rng: random.Random) -> Row:
    """Kill crawls again and again, resuming each until it is done, for so many kills in all.

    With several workers it is the whole crew, the supervisor alone, or one of the workers.
    """
    row = Row(_named(workers, ground.delay_s), ground.back.name)
    while row.faults < kills:
        with ground.case() as case:
            case.workers = workers
            count = 0
            while count < kills - row.faults:
                crawl = case.start()
                let_live(ground, crawl, rng)
                if crawl.is_over:
                    break
                count += _kill_some(case, crawl, rng)
            found = case.finish()
            row.add(found, case.held, faults=count)
    return row


def let_live(ground: Ground, crawl: Crawl, rng: random.Random) -> None:
    """Give a crawl a random time: mostly until it has asked so much, else from its start."""
    if rng.random() < BLIND_SHARE:
        crawl.wait(rng.uniform(0, LONGEST_LIFE_S))
        return
    wanted = sum(len(site.log) for site in ground.sites) + rng.randint(1, MOST_REQUESTS)
    wait_until(lambda: crawl.is_over or sum(len(site.log) for site in ground.sites) >= wanted)
    crawl.wait(rng.uniform(0, LONGEST_LIFE_S / 10))


def _named(workers: int, delay_s: float) -> str:
    crew = f", {workers} workers" if workers > 1 else ""
    return f"SIGKILL{crew}" + (f", delay {delay_s:g} s" if delay_s >= ORDINARY_S else "")


def _kill_some(case: Case, crawl: Crawl, rng: random.Random) -> int:
    workers = crawl.workers() if case.workers > 1 else []
    match rng.choice(("all", "all", "starter", "worker")) if workers else "all":
        case "worker":
            case.note_held_by(crawl)
            with suppress(ProcessLookupError):
                os.kill(rng.choice(workers), signal.SIGKILL)
            crawl.wait(rng.uniform(0, LONGEST_LIFE_S))
            if crawl.is_over:
                return 1
            case.kill(crawl)
            return 2
        case "starter":
            case.note_held_by(crawl)
            with suppress(ProcessLookupError):
                os.kill(crawl.pid, signal.SIGKILL)
            crawl.wait(LONGEST_CRAWL_S)
        case _:
            case.kill(crawl)
    return 1


def crash_points(ground: Ground) -> list[str]:
    """Count the durable operations of a crawl that nothing happens to."""
    with ground.case() as case:
        told = case.root / "operations"
        found = case.finish(Plan(told_to=str(told)))
        if found.violations:
            raise RuntimeError(f"an undisturbed crawl went wrong: {found}")
        return told.read_text("utf-8").splitlines()


def die_at(ground: Ground, points: Iterable[int], *, after: bool) -> Row:
    """Let a crawl die at an operation, in its middle or right after it, for each of some."""
    name = "death after each operation" if after else "death in each operation, torn"
    row = Row(name, ground.back.name)
    for point in points:
        with ground.case() as case:
            crawl = case.start(Plan(die_at=point, after=after))
            code = crawl.wait(LONGEST_CRAWL_S)
            case.note_held()
            # Runs differ by some operations: one that ends before its point has none to die at.
            is_hit, said = code == -signal.SIGKILL, crawl.words()[-400:]
            found = case.finish()
            row.add(found, case.held, faults=is_hit, about=f"operation {point}")
            if code is None or (not is_hit and code != 0):
                row.wrong.append(f"operation {point}: the first run ended with {code}: {said}")
    return row


def spread(operations: Sequence[str], many: int, rng: random.Random) -> list[int]:
    """Choose operations: one of each kind, and more at random until there are as many."""
    kinds = sorted(set(operations))
    chosen = [
        rng.choice([number for number, kind in enumerate(operations, 1) if kind == wanted])
        for wanted in rng.sample(kinds, min(many, len(kinds)))
    ]
    return chosen + [rng.randint(1, len(operations)) for _ in range(many - len(chosen))]


def kinds(operations: Iterable[str]) -> str:
    """Say of which kinds operations are."""
    counted = Counter(operations).most_common()
    return ", ".join(f"{many} {kind}" for kind, many in counted)


def stop_past_lease(ground: Ground, *, runs: int, rng: random.Random) -> Row:
    """Stop one of two workers for longer than its leases, and let it go on beside the other."""
    row = Row("SIGSTOP past the lease", ground.back.name)
    for _ in range(runs):
        with ground.case() as case:
            case.workers, case.options, case.silence_s = 2, SHORT, SILENCE_S
            crawl = case.start()
            let_live(ground, crawl, rng)
            sleeper = rng.choice(crawl.workers() or [crawl.pid])
            case.note_held_by(crawl)
            with suppress(ProcessLookupError):  # it may be done already
                os.kill(sleeper, signal.SIGSTOP)
                crawl.wait(lease_s(CONFIG, SILENCE_S) + rng.uniform(0.5, 1.5))
                os.kill(sleeper, signal.SIGCONT)
            crawl.wait(LONGEST_CRAWL_S)
            found = case.finish()
            row.add(found, case.held)
    return row
