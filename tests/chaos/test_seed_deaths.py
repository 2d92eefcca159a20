"""The seed engine, killed at every step: nothing is lost, nothing is done twice without need."""

from __future__ import annotations

import json
import os
import random
import signal
from collections.abc import Iterator

import pytest

from geomi.dataset.partition import result_path
from tests.chaos.ground import wait_until
from tests.chaos.seed_ground import (
    LARGE,
    LONGEST_LIFE_S,
    PLACE,
    Back,
    Case,
    Local,
    SeedGround,
    Served,
    Tree,
    seed_ground,
    timeless,
    unfinished,
)
from tests.support.postgres import Cluster
from tests.support.s3 import S3Server

pytestmark = pytest.mark.slow

MOST_LIVES = 20
# Steps: three domains that are worked on side by side take four each to their checkpoints.
SHORT_LIFE = 13
RANDOM_KILLS = 8
MOST_OF_A_LIFE_S = 0.4
MOST_STEPS = 200  # of an undisturbed life: some fifty


@pytest.fixture(scope="module", params=["local", "served"])
def back(request: pytest.FixtureRequest) -> Back:
    """Return where things are: on files, and on servers."""
    if request.param == "local":
        return Local()
    cluster: Cluster = request.getfixturevalue("cluster")
    s3: S3Server = request.getfixturevalue("s3_server")
    return Served(cluster, s3)


@pytest.fixture(scope="module")
def ground(back: Back, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SeedGround]:
    """Return a small ground."""
    with seed_ground(tmp_path_factory.mktemp("seeds"), back) as made:
        yield made


@pytest.fixture(scope="module")
def undisturbed(ground: SeedGround) -> Tree:
    """Return what a life leaves that nothing happens to."""
    case = ground.case()
    assert case.live() == 0
    check_whole(case)
    return timeless(case.tree())


@pytest.mark.req("SED-32", "SED-44", "C-52", "C-92")
@pytest.mark.parametrize("phase", ["before", "after"])
def test_whoever_dies_at_any_step_is_followed_by_one_who_ends_it(
    ground: SeedGround, undisturbed: Tree, phase: str
) -> None:
    for step in range(1, MOST_STEPS):
        case = ground.case()
        code = case.live(die_at=step, phase=phase)
        if code == 0:
            assert step > 20, "there are more steps than that"
            return
        check_dead(case)
        assert case.live() == 0
        check_done(case, undisturbed)
    raise AssertionError("it dies for ever")


@pytest.mark.req("SED-32", "SED-44")
def test_whoever_dies_again_and_again_comes_to_an_end(
    ground: SeedGround, undisturbed: Tree
) -> None:
    case = ground.case()
    while case.live(die_at=SHORT_LIFE, phase="after") != 0:
        check_dead(case)
        assert case.lives < MOST_LIVES
    check_done(case, undisturbed)
    assert case.lives > 2


@pytest.mark.req("SED-44")
def test_whoever_dies_at_any_moment_is_followed_by_one_who_ends_it(
    ground: SeedGround, undisturbed: Tree
) -> None:
    rng = random.Random(8)
    for _ in range(RANDOM_KILLS):
        case = ground.case()
        life = case.begin()
        if life.wait(rng.uniform(0.0, MOST_OF_A_LIFE_S)) is None:
            os.kill(life.pid, signal.SIGKILL)
            assert life.wait(LONGEST_LIFE_S) is not None
            case.mourn()
            check_dead(case)
        assert case.live() == 0
        check_done(case, undisturbed)


@pytest.mark.req("SED-44", "C-92")
@pytest.mark.parametrize("step", ["/domain_metadata.json", "/domain_metadata.json.success"])
def test_what_somebody_writes_long_after_its_loan_is_put_right(
    ground: SeedGround, undisturbed: Tree, step: str
) -> None:
    case = ground.case()
    sleeper = case.begin(stop_at=step)
    sign = case.folder / "steps.stopped"
    assert wait_until(sign.exists), sleeper.words()
    case.mourn()
    assert case.live() == 0
    sign.unlink()
    assert sleeper.wait(LONGEST_LIFE_S) == 0, sleeper.words()
    assert case.live() == 0
    tree = case.tree()
    assert unfinished(tree) == []
    assert timeless(tree) == undisturbed


@pytest.mark.req("SED-36", "SED-44", "C-92")
def test_two_orchestrators_and_four_workers_collect_each_domain_once(
    back: Back, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with seed_ground(tmp_path_factory.mktemp("crowd"), back, LARGE) as large:
        case = large.case()
        workers = [case.begin(orchestrates=False, serves=True) for _ in range(4)]
        orchestrators = [case.begin(works=False) for _ in range(2)]
        try:
            for one in orchestrators:
                assert one.wait(LONGEST_LIFE_S) == 0, one.words()
            assert wait_until(lambda: case.rows("SELECT 1 FROM seed_messages LIMIT 1") == [])
        finally:
            for one in workers:
                os.kill(one.pid, signal.SIGTERM)
        for one in workers:
            assert one.wait(LONGEST_LIFE_S) == 0, one.words()
        check_whole(case)


def check_whole(case: Case) -> None:
    """Every domain was collected once, and has every URL that a raw file names."""
    tree = case.tree()
    assert unfinished(tree) == []
    assert set(case.ground.collections().values()) == {1}, case.ground.collections()
    assert case.rows("SELECT DISTINCT state FROM seed_tasks") == [("processed",)]
    named = {one["url"] for records in case.ground.files.values() for one in records}
    contracts = [data for path, data in tree.items() if path.endswith("/domain_metadata.json")]
    found = [one["url"] for data in contracts for one in json.loads(data)["urls"]]
    rejected = [data for path, data in tree.items() if path.startswith("rejects/")]
    lines = [line for data in rejected for line in data.splitlines()]
    found += [json.loads(line)["url"] for line in lines]
    assert sorted(found) == sorted(named)


def check_dead(case: Case) -> None:
    """A checkpoint is never there without its data, nor answers for a domain nobody works on."""
    lent = case.open_loans
    for key in unfinished(case.tree()):
        assert any(key.startswith(f"{task}/") for task in lent), (key, case.steps())


def check_done(case: Case, undisturbed: Tree) -> None:
    """What is there in the end, and what it cost."""
    assert timeless(case.tree()) == undisturbed, case.steps()
    for domain, count in case.ground.collections().items():
        again = case.open_loans[result_path(PLACE, domain)]
        assert 1 <= count <= 1 + again, (domain, case.steps())
