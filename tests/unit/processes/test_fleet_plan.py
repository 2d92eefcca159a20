"""How many workers some work is worth, and how a fleet grows and shrinks."""

from __future__ import annotations

import pytest

from geomi.errors import ConfigError
from geomi.processes.fleet import FleetPlan, ShrinkDamper, check_plan, workers_worth
from geomi.settings.options import Settings

SHARED = Settings(db="postgresql://crawler@db.test/crawl")


def plan(least: int, most: int, *, settings: Settings = SHARED) -> FleetPlan:
    """Plan a fleet whose workers are worth a hundred URLs each."""
    return FleetPlan("data", settings, least, most, urls_per_worker=100)


@pytest.mark.parametrize(
    ("least", "most", "waiting", "wanted"),
    [
        (0, 5, 0, 0),
        (0, 5, 1, 1),
        (0, 5, 100, 1),
        (0, 5, 101, 2),
        (0, 5, 10_000, 5),
        (2, 5, 0, 2),
        (3, 3, 10_000, 3),
    ],
)
def test_the_work_decides_between_the_bounds(
    least: int, most: int, waiting: int, wanted: int
) -> None:
    assert workers_worth(plan(least, most), waiting) == wanted


def test_a_fleet_grows_at_once_and_shrinks_after_a_while() -> None:
    damper = ShrinkDamper(steady_s=60)
    story = [
        (0, 2, 2),
        (5, 9, 9),
        (10, 1, 9),
        (40, 4, 9),
        (69, 1, 9),
        (70, 1, 4),  # the most that was worth having in the last minute
        (75, 1, 4),
        (100, 6, 6),  # grows, and forgets that it was too large
        (131, 1, 6),
        (190, 1, 6),
        (191, 1, 1),
    ]
    assert [damper.settle(worth, now_s=now_s) for now_s, worth, _ in story] == [
        wanted for _, _, wanted in story
    ]


@pytest.mark.parametrize(
    ("least", "most", "settings", "message"),
    [
        (1, 2, Settings(), "needs a database"),
        (3, 2, SHARED, "between 3 and 2"),
        (0, 0, SHARED, "between 0 and 0"),
    ],
    ids=["sqlite", "upside-down", "nobody"],
)
def test_a_fleet_that_cannot_be_is_refused(
    least: int, most: int, settings: Settings, message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        check_plan(plan(least, most, settings=settings))


def test_a_fleet_that_can_be_is_not() -> None:
    check_plan(plan(0, 1))
