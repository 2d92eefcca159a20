"""kill -9 at random moments, resume until done: nothing lost, nothing hurried."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import time
from collections import Counter
from contextlib import ExitStack, closing
from itertools import pairwise
from pathlib import Path

import pytest

from geomi.engine.audit import invariants
from tests.e2e.command import LOCAL, records, run, start
from tests.support.server import Seen, Site
from tests.support.webs import random_web

KILLS, MANY = 4, 25
PAGES = 150
DELAY_S = 0.04


@pytest.mark.slow
@pytest.mark.parametrize("kills", [KILLS, pytest.param(MANY, marks=pytest.mark.prove)])
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.req("FRN-16", "POL-05", "FRN-05", "FRN-11", "ROB-08")
def test_killed_again_and_again_a_crawl_loses_nothing(
    tmp_path: Path, workers: int, kills: int
) -> None:
    webs = [random_web(seed, pages=PAGES) for seed in (1, 2, 3)]
    rng = random.Random(workers)
    with ExitStack() as stack:
        sites = [
            stack.enter_context(Site(web.routes, address=f"127.0.0.{number + 2}"))
            for number, web in enumerate(webs)
        ]
        command = [
            "crawl", *(site.url("/") for site in sites), "-o", str(tmp_path), "--resume", "-q",
            "--delay", str(DELAY_S), "--workers", str(workers), *LOCAL,
        ]  # fmt: skip
        open_leases: Counter[str] = Counter()
        killed = 0
        for _ in range(kills):
            before = sum(len(site.log) for site in sites)
            process = start(*command)
            _wait_for_requests(sites, before + rng.randint(1, 12))
            time.sleep(rng.uniform(0, 0.15))
            os.killpg(process.pid, signal.SIGKILL)
            killed += process.wait() == -signal.SIGKILL
            open_leases += _open_leases(tmp_path)
        done = run(*command)
        assert done.returncode == 0, done.stderr
        assert killed == kills
        fetched_before = [len(site.log) for site in sites]
        again = run(*command)
        assert again.returncode == 0, again.stderr
        assert [len(site.log) for site in sites] == fetched_before, "a finished job fetches nothing"

    kept = Counter(record["url"] for record in records(tmp_path))
    for site, web in zip(sites, webs, strict=True):
        wanted = {site.url(path) for path in web.reachable}
        assert {url for url in kept if url.startswith(site.url(""))} == wanted
        _assert_gaps(site.log)
        visits = Counter(seen.path for seen in site.log)
        assert visits.pop("/robots.txt") <= 1 + open_leases[f"{site.address}:{site.port}#host"]
        refetched = sum(count - 1 for count in visits.values())
        lent = open_leases[f"{site.address}:{site.port}"]
        assert list(invariants.asked_again(refetched, lent)) == []
    assert set(kept.values()) == {1}, "one record a page"


def _wait_for_requests(sites: list[Site], count: int) -> None:
    """Let the crawl get somewhere before it is killed; starting takes most of a second."""
    deadline = time.monotonic() + 20
    while sum(len(site.log) for site in sites) < count and time.monotonic() < deadline:
        time.sleep(0.01)


def _open_leases(directory: Path) -> Counter[str]:
    """Count the entries lent at this moment, by host; `host#host` counts the lease itself."""
    database = directory / "geomi.db"
    if not database.exists():
        return Counter()
    with closing(sqlite3.connect(database)) as db:
        rows = db.execute("SELECT host, leased FROM hosts WHERE lease_until_s > 0").fetchall()
    counts: Counter[str] = Counter()
    for host, leased in rows:
        counts[host] += leased
        counts[f"{host}#host"] += 1
    return counts


def _assert_gaps(log: list[Seen]) -> None:
    for earlier, later in pairwise(log):
        ended = earlier.ended_s if earlier.ended_s is not None else earlier.started_s
        assert not invariants.too_close(later.started_s - ended, DELAY_S), (earlier, later)
