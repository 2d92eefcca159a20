"""Whether a visit is tried again."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomi.fetch.retry import MAX_VALUE_CHARS, parse_retry_after, retry
from geomi.model.config import CrawlConfig, HttpRules
from geomi.model.verdict import Outcome

CONFIG = CrawlConfig()


class Least(random.Random):
    """Draws the least of every range, so that jitter is nothing."""

    def uniform(self, a: float, b: float) -> float:
        return a


def waits(outcome: Outcome, status: int, settings: CrawlConfig = CONFIG) -> list[float]:
    """Return the waits until a URL is given up, without their jitter."""
    found: list[float] = []
    while len(found) < 10:
        wait_s = retry(
            outcome, status, len(found), retry_after_s=None, rng=Least(), config=settings
        )
        if wait_s is None:
            break
        found.append(wait_s)
    return found


@pytest.mark.req("ERR-06", "ERR-07", "ERR-08", "ERR-09")
@pytest.mark.parametrize(
    ("outcome", "status", "expected"),
    [
        (Outcome.RATE_LIMITED, 429, [60]),
        (Outcome.SERVER_ERROR, 500, [30, 60]),
        (Outcome.SERVER_ERROR, 502, [30, 60]),
        (Outcome.SERVER_ERROR, 504, [30, 60]),
        (Outcome.SERVER_ERROR, 520, [30, 60]),
        (Outcome.SERVER_ERROR, 503, [30, 60, 120]),
    ],
)
def test_busy_servers(outcome: Outcome, status: int, expected: list[float]) -> None:
    assert waits(outcome, status) == pytest.approx(expected)


@pytest.mark.req("ERR-10", "ERR-11")
@pytest.mark.parametrize(
    ("outcome", "status"),
    [
        (Outcome.DNS_ERROR, 0),
        (Outcome.CONNECT_ERROR, 0),
        (Outcome.PROTOCOL_ERROR, 0),
        (Outcome.TIMEOUT, 0),
        (Outcome.TIMEOUT, 408),
        (Outcome.TIMEOUT, 503),
    ],
)
def test_lost_connections(outcome: Outcome, status: int) -> None:
    assert waits(outcome, status) == pytest.approx([30])


@pytest.mark.parametrize(
    "outcome",
    [Outcome.OK, Outcome.REFUSED, Outcome.GONE, Outcome.CLIENT_ERROR, Outcome.NOT_MODIFIED,
     Outcome.TLS_ERROR, Outcome.TOO_LARGE, Outcome.ADDRESS_REFUSED],
)  # fmt: skip
def test_what_will_not_get_better_is_not_tried_again(outcome: Outcome) -> None:
    assert waits(outcome, 403) == []


@pytest.mark.parametrize(("most", "expected"), [(0, 0), (1, 1), (2, 2), (9, 3)])
def test_the_jobs_own_ceiling(most: int, expected: int) -> None:
    settings = CrawlConfig(http=HttpRules(max_retries=most))
    assert len(waits(Outcome.SERVER_ERROR, 503, settings)) == expected


@pytest.mark.parametrize(
    ("outcome", "status", "asked_s", "low", "high"),
    [
        (Outcome.RATE_LIMITED, 429, 300.0, 300.0, 300.0),
        (Outcome.SERVER_ERROR, 503, 300.0, 300.0, 300.0),
        (Outcome.SERVER_ERROR, 500, 300.0, 27.0, 33.0),
        (Outcome.RATE_LIMITED, 429, 1.0, 54.0, 66.0),
        (Outcome.RATE_LIMITED, 429, 9e9, 3600.0, 3600.0),
    ],
)
def test_retry_after_c71(
    outcome: Outcome, status: int, asked_s: float, low: float, high: float
) -> None:
    rng = random.Random(1)
    wait_s = retry(outcome, status, 0, retry_after_s=asked_s, rng=rng, config=CONFIG)
    assert wait_s is not None
    assert low <= wait_s <= high


@given(
    st.sampled_from(Outcome),
    st.integers(0, 600),
    st.integers(0, 9),
    st.integers(0, 99),
    st.sampled_from([0.0, 0.1, 1.0]),
)
def test_jitter_only_adds_and_stays_in_its_share_c36(
    outcome: Outcome, status: int, attempts: int, seed: int, jitter: float
) -> None:
    settings = CrawlConfig(http=HttpRules(retry_jitter=jitter))
    wait_s = retry(
        outcome, status, attempts, retry_after_s=None, rng=random.Random(seed), config=settings
    )
    table = waits(outcome, status)
    assert (wait_s is None) is (attempts >= len(table))
    if wait_s is not None:
        assert table[attempts] <= wait_s <= table[attempts] * (1 + jitter) + 1e-9


NOW_S = 1_700_000_000.0  # Tue, 14 Nov 2023 22:13:20 GMT


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("120", 120.0),
        (" 0 ", 0.0),
        ("Tue, 14 Nov 2023 22:14:20 GMT", 60.0),
        ("Tuesday, 14-Nov-23 22:14:20 GMT", 60.0),
        ("Tue Nov 14 22:14:20 2023", 60.0),
        ("Tue, 14 Nov 2023 22:00:00 GMT", 0.0),
        ("", None),
        ("soon", None),
        ("-5", None),
        ("1.5", None),
        ("٣", None),
        ("Tue, 99 Nov 2023 22:14:20 GMT", None),
        ("1" * (MAX_VALUE_CHARS + 1), None),
        ("1" * MAX_VALUE_CHARS, float("1" * MAX_VALUE_CHARS)),
    ],
)
def test_parse_retry_after(value: str, expected: float | None) -> None:
    assert parse_retry_after(value, wall_s=NOW_S) == expected


@given(st.text(max_size=40))
def test_any_header_can_be_read(value: str) -> None:
    found = parse_retry_after(value, wall_s=NOW_S)
    assert found is None or found >= 0.0
