"""Servers that go: the database killed, its primary lost, the bucket away."""

from __future__ import annotations

import random
import signal
import time
from contextlib import ExitStack
from dataclasses import replace

from tests.chaos.deaths import LONGEST_LIFE_S
from tests.chaos.ground import LONGEST_CRAWL_S, Case, Ground, wait_until
from tests.chaos.table import Row
from tests.support.postgres import Cluster, running_cluster, running_standby


def kill_database(ground: Ground, *, runs: int, workers: int, rng: random.Random) -> Row:
    """Kill the server of the database under a crawl, and start it again; the crawl goes on."""
    assert ground.back.cluster is not None
    cluster = ground.back.cluster
    row = Row(f"PostgreSQL killed, {workers} workers", ground.back.name)
    for _ in range(runs):
        with ground.case() as case:
            case.workers = workers
            crawl = case.start()
            _wait_for_requests(ground)
            crawl.wait(rng.uniform(0, LONGEST_LIFE_S / 2))
            cluster.stop(signal.SIGKILL)
            time.sleep(rng.uniform(0, 0.5))
            cluster.restart()
            _go_on(row, case, crawl.wait(LONGEST_CRAWL_S))
    return row


def lose_primary(ground: Ground, *, runs: int, rng: random.Random) -> Row:
    """Kill the primary under a crawl for good and promote its standby; the crawl goes on."""
    assert ground.back.cluster is not None
    row = Row("primary lost, standby promoted", ground.back.name)
    for number in range(runs):
        with ExitStack() as stack:
            primary = stack.enter_context(running_cluster(ground.back.cluster.bin_folder))
            standby = stack.enter_context(running_standby(primary))
            case = stack.enter_context(ground.case())
            case.workers = 1 + number % 2
            case.settings = replace(case.settings, db=_either(primary, standby))
            crawl = case.start()
            _wait_for_requests(ground)
            crawl.wait(rng.uniform(0, LONGEST_LIFE_S / 2))
            primary.stop(signal.SIGKILL)
            time.sleep(rng.uniform(0, 0.5))
            standby.promote()
            _go_on(row, case, crawl.wait(LONGEST_CRAWL_S))
    return row


def lose_bucket(ground: Ground, *, runs: int, rng: random.Random) -> Row:
    """Kill the bucket's server under a crawl and start it again, before the end or after."""
    assert ground.back.s3 is not None
    s3 = ground.back.s3
    row = Row("S3 killed during uploads", ground.back.name)
    for _ in range(runs):
        with ground.case() as case:
            crawl = case.start()
            _wait_for_requests(ground)
            crawl.wait(rng.uniform(0, LONGEST_LIFE_S / 2))
            s3.kill()
            crawl.wait(rng.uniform(0, 2 * LONGEST_LIFE_S))
            s3.start()
            _go_on(row, case, crawl.wait(LONGEST_CRAWL_S))
    return row


def _wait_for_requests(ground: Ground) -> None:
    """Let the crawl reach its servers: one that is not there at the start is told to a person."""
    wait_until(lambda: any(site.log for site in ground.sites))


def _either(primary: Cluster, standby: Cluster) -> str:
    hosts = f"{primary.folder},{standby.folder}"
    return f"postgresql://postgres@/postgres?host={hosts}&target_session_attrs=read-write"


def _go_on(row: Row, case: Case, code: int | None) -> None:
    """A crawl has to outlive its servers: what it fetched is not fetched again."""
    if code != 0:
        row.wrong.append(f"the crawl ended with {code}: {(case.root / 'told').read_text()[-300:]}")
        case.note_held()
    row.add(case.finish(), case.held)
