"""How often a page changes, in words."""

from __future__ import annotations

import pytest

from geomi.model.history import PageHistory
from geomi.recrawl.rate import Belief, describe_interval, describe_rate

DAILY = Belief(1.0, 86_400.0 * 12)


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (1e3, "every hour"),
        (7200.0, "every 2 hours"),
        (86_400.0, "every 24 hours"),
        (172_800.0, "every 2 days"),
        (86_400.0 * 5000, "every 5,000 days"),
    ],
)
def test_intervals(seconds: float, expected: str) -> None:
    assert describe_interval(seconds) == expected


@pytest.mark.req("CHG-06")
@pytest.mark.parametrize(
    ("history", "expected"),
    [
        (PageHistory(), "(shared: as all pages begin)"),
        (
            PageHistory(5.0, visits=2, changes=1),
            "(recorded: by pages like it), 1 changes in 2 visits",
        ),
        (PageHistory(5.0, visits=9, changes=4), "(own: by its own visits), 4 changes in 9 visits"),
        (
            PageHistory(5.0, visits=5, gone_at_s=5.0),
            "(estimated: by its own visits and pages like it), 0 changes in 5 visits, "
            "gone at the last",
        ),
        (
            PageHistory(5.0, visits=1, missed_at_s=9.0),
            "(shared: as all pages begin), out of reach at the last",
        ),
    ],
)
def test_reasons(history: PageHistory, expected: str) -> None:
    assert describe_rate(history, DAILY) == f"changes about every 12 days {expected}"
