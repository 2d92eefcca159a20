"""No window of an hour or a day holds more requests than its cap, wherever it starts."""

from __future__ import annotations

from bisect import bisect_right

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomi.adapters.store.accounting.hosts import permitted_s
from geomi.model.entry import RequestCap
from tests.contracts.reference.windows import Minutes, permit, windows

HOUR_S, DAY_S = 3600.0, 86_400.0
steps = st.one_of(
    st.floats(0, 30), st.floats(0, 5000), st.sampled_from([0.0, 59.999, 60.0, 3540.0, HOUR_S])
)


def most_in_a_window(times_s: list[float], length_s: float) -> int:
    """Return the largest number of moments that any window of this length holds, ends included."""
    counts = (bisect_right(times_s, start + length_s) - i for i, start in enumerate(times_s))
    return max(counts, default=0)


@pytest.mark.req("POL-03")
@given(
    start_s=st.floats(0, 1e6),
    waits_s=st.lists(steps, max_size=120),
    per_hour=st.integers(0, 4),
    per_day=st.integers(1, 9),
)
def test_no_window_holds_more_than_its_cap(
    start_s: float, waits_s: list[float], per_hour: int, per_day: int
) -> None:
    minutes: Minutes = {}
    caps = (RequestCap("a.test", per_hour, per_day),)
    sent: list[float] = []
    now_s = start_s
    for wait_s in waits_s:
        now_s += wait_s
        if permit(minutes, caps, now_s=now_s) == now_s:
            sent.append(now_s)
    assert most_in_a_window(sent, DAY_S) <= per_day
    assert not per_hour or most_in_a_window(sent, HOUR_S) <= per_hour


@given(
    many=st.integers(1, 30),
    per_hour=st.integers(0, 5),
    per_day=st.integers(0, 11),
    wait_s=st.floats(0, 900),
)
def test_whoever_comes_back_when_told_is_let_through(
    many: int, per_hour: int, per_day: int, wait_s: float
) -> None:
    minutes: Minutes = {}
    caps = (RequestCap("", per_hour, per_day), RequestCap("a.test", per_hour + 1, per_day))
    now_s = 1000.0
    for _ in range(many):
        again_s = permit(minutes, caps, now_s=now_s)
        assert now_s <= again_s <= now_s + DAY_S + 180
        if again_s > now_s:
            assert permit(minutes, caps, now_s=again_s) == again_s
        now_s = again_s + wait_s


def test_counts_that_reach_into_no_window_expire() -> None:
    minutes: Minutes = {}
    for number in range(2000):
        permit(minutes, [RequestCap("a.test", 1000, 10_000)], now_s=number * 60.0)
    assert len(minutes) == 1442
    shown = windows(minutes, "a.test", now_s=1999 * 60.0)
    assert len(shown) == 1442
    assert shown[-1].expires_s == 2000 * 60.0  # the oldest is in no window of the next minute


@pytest.mark.parametrize(
    ("now_s", "free"), [(3600.0, False), (3719.9, False), (3720.0, True)], ids=str
)
def test_a_minute_counts_until_its_youngest_request_has_left_the_hour(
    now_s: float, free: bool
) -> None:
    # Permitted at 59.9 s at the latest and sent within a minute, so it may still count at 3,719 s.
    answer_s = permitted_s([(0, 1)], RequestCap("", 1), now_s=now_s)
    assert answer_s == (now_s if free else 3720.0)
