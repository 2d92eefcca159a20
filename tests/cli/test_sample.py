"""The sample crawl is judged by what the server saw."""

from __future__ import annotations

import pytest

from geomi.cli.prepare.demo import shortest_gaps_s
from geomi.demo import DemoVisit


def visit(host: str, start_s: float, end_s: float) -> DemoVisit:
    return DemoVisit(host, "/", 200, start_s, end_s)


@pytest.mark.parametrize(
    ("visits", "gaps"),
    [
        ([], {}),
        ([visit("a", 0, 1)], {}),
        ([visit("a", 0, 1), visit("a", 3, 4), visit("a", 5.5, 6)], {"a": 1.5}),
        (
            [visit("a", 0, 1), visit("b", 1, 2), visit("a", 2, 3), visit("b", 5, 6)],
            {"a": 1, "b": 3},
        ),
        ([visit("a", 3, 4), visit("a", 0, 1)], {"a": 2}),
        ([visit("a", 0, 2), visit("a", 1, 3)], {"a": -1}),
    ],
)
def test_the_gap_runs_from_an_answer_to_the_next_request(
    visits: list[DemoVisit], gaps: dict[str, float]
) -> None:
    assert shortest_gaps_s(visits) == gaps
