"""The short form of `make chaos`: each fault a few times, on both databases."""

from __future__ import annotations

import errno
import random
from collections.abc import Iterator

import pytest

from tests.chaos import deaths, disk, outside, servers
from tests.chaos.ground import Back, Ground
from tests.chaos.table import Row, rendered
from tests.support.postgres import Cluster
from tests.support.s3 import S3Server

pytestmark = pytest.mark.slow

HOSTS, PAGES = 4, 15
POINTS = 5


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def ground(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Ground]:
    """Return a small ground, on each database in turn."""
    if request.param == "postgres":
        yield request.getfixturevalue("served")
        return
    with Ground(tmp_path_factory.mktemp("chaos"), Back(), hosts=HOSTS, pages=PAGES) as made:
        yield made


@pytest.fixture(scope="module")
def served(
    cluster: Cluster, s3_server: S3Server, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Ground]:
    """Return a small ground whose database and archive are servers."""
    back = Back(cluster, s3_server)
    folder = tmp_path_factory.mktemp("chaos")
    with Ground(folder, back, lane=1, hosts=HOSTS, pages=PAGES) as made:
        yield made


@pytest.fixture(scope="module")
def operations(ground: Ground) -> list[str]:
    """Return the durable operations of a crawl that nothing happens to."""
    return deaths.crash_points(ground)


@pytest.fixture
def rng() -> random.Random:
    """Return the same luck each time."""
    return random.Random(1)


def _assert_clean(row: Row) -> None:
    assert row.violations == 0, rendered([row])
    assert row.lost == 0 and row.refetched <= row.held.urls


@pytest.mark.parametrize("workers", [1, 2, 8])
@pytest.mark.req("FRN-16", "FRN-11")
def test_kills_at_random(ground: Ground, rng: random.Random, workers: int) -> None:
    _assert_clean(deaths.kill_at_random(ground, kills=3, workers=workers, rng=rng))


@pytest.mark.parametrize("after", [False, True], ids=["in", "after"])
def test_deaths_at_durable_operations(
    ground: Ground, operations: list[str], rng: random.Random, after: bool
) -> None:
    points = deaths.spread(operations, POINTS, rng)
    row = deaths.die_at(ground, points, after=after)
    _assert_clean(row)
    # A busier machine settles more pages at once: a run may be done before it came to its point.
    assert row.faults > 0


def test_a_worker_that_sleeps_past_its_lease(ground: Ground, rng: random.Random) -> None:
    _assert_clean(deaths.stop_past_lease(ground, runs=1, rng=rng))


def test_clocks_that_are_set(ground: Ground, rng: random.Random) -> None:
    _assert_clean(outside.set_clocks(ground, runs=1, rng=rng))


def test_a_network_that_goes(ground: Ground, rng: random.Random) -> None:
    row = outside.lose_network(ground, runs=3, rng=rng)
    _assert_clean(row)
    assert row.faults > 0


def test_settlements_that_come_twice(ground: Ground) -> None:
    _assert_clean(outside.deliver_twice(ground, runs=1))


def test_a_slow_disk(ground: Ground) -> None:
    _assert_clean(disk.slow(ground, runs=1))


@pytest.mark.parametrize(
    ("error", "for_good"), [(errno.ENOSPC, True), (errno.EIO, False)], ids=["full", "broken"]
)
def test_a_disk_that_refuses(
    ground: Ground, operations: list[str], rng: random.Random, error: int, for_good: bool
) -> None:
    points = deaths.spread(operations, 2, rng)
    _assert_clean(disk.refuse(ground, error, points, for_good=for_good))


def test_a_database_that_is_killed(served: Ground, rng: random.Random) -> None:
    _assert_clean(servers.kill_database(served, runs=1, workers=2, rng=rng))


def test_a_primary_that_is_lost(served: Ground, rng: random.Random) -> None:
    _assert_clean(servers.lose_primary(served, runs=1, rng=rng))
