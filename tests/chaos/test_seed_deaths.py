"""The seed engine, killed at every step: nothing is lost, nothing is done twice without need."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from geomi.seed.partition import result_path
from geomi.testing.postgres import Cluster
from geomi.testing.s3 import S3Server
from tests.chaos.seed_ground import (
    DOMAINS,
    PLACE,
    Case,
    Local,
    SeedGround,
    Served,
    Tree,
    seed_ground,
    timeless,
    unfinished,
)

pytestmark = pytest.mark.slow

MOST_STEPS = 200  # of an undisturbed life: some fifty


@pytest.fixture(scope="module", params=["local", "served"])
def ground(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SeedGround]:
    """Return a ground, on files and on servers in turn."""
    folder = tmp_path_factory.mktemp("seeds")
    if request.param == "local":
        back: Local | Served = Local()
    else:
        cluster: Cluster = request.getfixturevalue("cluster")
        s3: S3Server = request.getfixturevalue("s3_server")
        back = Served(cluster, s3)
    with seed_ground(folder, back) as made:
        yield made


@pytest.fixture(scope="module")
def undisturbed(ground: SeedGround) -> Tree:
    """Return what a life leaves that nothing happens to."""
    case = ground.case()
    assert case.live() == 0
    assert ground.collections() == dict.fromkeys(DOMAINS, 1)
    tree = case.tree()
    assert unfinished(tree) == []
    return timeless(tree)


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
