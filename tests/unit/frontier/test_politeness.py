"""How long a host rests."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomi.frontier.politeness import (
    DOWN_AFTER,
    DOWN_REST_S,
    FIRST_BACKOFF_S,
    SLOW_S,
    STRAINED,
    UNANSWERED,
    UNASKED,
    after,
    base_floor_s,
    credit_s,
    delay_s,
    firm_s,
    is_down,
    least_s,
    mean_s,
)
from geomi.model.config import CrawlConfig, Politeness, RobotsRules
from geomi.model.entry import HostState
from geomi.model.verdict import Outcome

HOST = HostState("a.test:443")
SECONDS = st.floats(0, 10_000, allow_nan=False)


def config(
    *,
    delay_s: float | None = None,
    base_delay_s: float = 1.0,
    backoff_multiplier: float = 2.0,
    max_backoff_s: float = 60.0,
    rate: float | None = None,
    burst: int = 1,
) -> CrawlConfig:
    return CrawlConfig(
        politeness=Politeness(
            delay_s=delay_s,
            requests_per_second=rate,
            burst=burst,
            base_delay_s=base_delay_s,
            backoff_multiplier=backoff_multiplier,
            max_backoff_s=max_backoff_s,
        )
    )


def rest_s(state: HostState, settings: CrawlConfig, seed: int = 0, **floors: float) -> float:
    return delay_s(
        state,
        settings,
        floor_s=floors.get("floor_s", 0.0),
        is_public=bool(floors.get("is_public", 0.0)),
        extra_s=floors.get("extra_s", 0.0),
        rng=random.Random(seed),
    )


def visit(
    state: HostState,
    outcome: Outcome,
    settings: CrawlConfig,
    *,
    took_s: float = 0.1,
    retry_after_s: float | None = None,
) -> HostState:
    return after(
        state,
        outcome=outcome,
        started_s=100.0,
        ended_s=100.0 + took_s,
        retry_after_s=retry_after_s,
        config=settings,
    )


@pytest.mark.req("POL-01")
def test_a_base_of_one_and_a_half_gives_one_to_two_seconds_c31() -> None:
    delays = [rest_s(HOST, config(base_delay_s=1.5), seed) for seed in range(500)]
    assert 1.0 <= min(delays) < 1.05
    assert 1.95 < max(delays) <= 2.0


@pytest.mark.req("POL-07")
def test_jitter_only_adds_to_a_delay_that_was_asked_for() -> None:
    delays = [rest_s(HOST, config(delay_s=3.0), seed) for seed in range(500)]
    assert 3.0 <= min(delays) < 3.05
    assert 3.95 < max(delays) <= 4.0


@pytest.mark.req("POL-06")
@pytest.mark.parametrize(
    ("rate", "delay", "expected_s"),
    [(1.0, None, 1.0), (5.0, None, 0.2), (0.1, None, 10.0), (5.0, 1.0, 1.0), (0.5, 1.0, 2.0)],
)
def test_of_a_rate_and_a_delay_the_slower_wins_c32(
    rate: float, delay: float | None, expected_s: float
) -> None:
    settings = config(rate=rate, delay_s=delay, base_delay_s=30.0)
    delays = [rest_s(HOST, settings, seed) for seed in range(500)]
    assert expected_s <= min(delays) < expected_s * 1.05
    assert expected_s * 1.3 < max(delays) <= expected_s * 4 / 3
    assert base_floor_s(settings, is_public=False) == expected_s


@pytest.mark.parametrize(
    ("settings", "state", "expected_s"),
    [
        (config(base_delay_s=1.5), HOST, 1.5),
        (config(delay_s=3.0), HOST, 3.5),
        (config(rate=2.0), HOST, 7 / 12),
        (config(delay_s=3.0), replace(HOST, crawl_delay_s=9.0), 9.0),
    ],
)
def test_what_a_plan_reckons_with(
    settings: CrawlConfig, state: HostState, expected_s: float
) -> None:
    actual = mean_s(state, settings, floor_s=0.0, is_public=False, extra_s=0.0)
    assert actual == pytest.approx(expected_s)


@pytest.mark.parametrize(
    ("latency", "factor", "cap_s", "expected_s"),
    [
        (SLOW_S, 1.0, 60.0, 0.0),
        (3.0, 1.0, 60.0, 3.0),
        (3.0, 2.5, 60.0, 7.5),
        (90.0, 1.0, 60.0, 60.0),
        (3.0, 0.0, 60.0, 0.0),
    ],
)
def test_a_host_that_answers_slowly_rests_as_long_as_it_works(
    latency: float, factor: float, cap_s: float, expected_s: float
) -> None:
    own = Politeness(delay_s=0.0, latency_factor=factor, max_backoff_s=cap_s)
    slow = replace(HOST, latency_s=latency)
    assert rest_s(slow, CrawlConfig(politeness=own)) == expected_s


@pytest.mark.req("POL-08")
@pytest.mark.parametrize(
    ("state", "is_public", "floors", "expected_s"),
    [
        (HOST, False, {}, 0.0),
        (HOST, True, {}, 1.0),
        (HOST, False, {"floor_s": 3.0}, 0.0),  # the longest delay of the host is our own
        (HOST, False, {"floor_s": 8.0}, 8.0),
        (HOST, False, {"extra_s": 2.0}, 2.0),
        (replace(HOST, crawl_delay_s=7.0), False, {}, 7.0),
        (replace(HOST, backoff_s=90.0), False, {}, 90.0),
        (replace(HOST, latency_s=4.0), False, {}, 4.0),
    ],
)
def test_a_burst_shortens_nothing_but_the_job_s_own_delay_g02(
    state: HostState, is_public: bool, floors: dict[str, float], expected_s: float
) -> None:
    given = {"floor_s": 0.0, "extra_s": 0.0} | floors
    many, one = config(delay_s=3.0, burst=4), config(delay_s=3.0)
    for settings in (many, one):
        assert firm_s(state, settings, is_public=is_public, **given) == expected_s
        assert least_s(state, settings, is_public=is_public, **given) == max(3.0, expected_s)
    assert (credit_s(many), credit_s(one)) == (9.0, 0.0)


@pytest.mark.req("POL-14", "ROB-26")
@pytest.mark.parametrize(
    ("asked_s", "respect", "cap_s", "expected_s"),
    [
        (None, True, 60.0, 0.0),
        (30.0, True, 60.0, 30.0),
        (300.0, True, 60.0, 60.0),
        (30.0, True, 10.0, 10.0),
        (30.0, False, 60.0, 0.0),
    ],
)
def test_crawl_delay_is_a_capped_floor_c05(
    asked_s: float | None, respect: bool, cap_s: float, expected_s: float
) -> None:
    robots = RobotsRules(respect_crawl_delay=respect, max_crawl_delay_s=cap_s)
    settings = replace(config(delay_s=0.0), robots=robots)
    assert rest_s(replace(HOST, crawl_delay_s=asked_s), settings) == expected_s


@given(
    delay=st.none() | SECONDS,
    base=SECONDS,
    least=SECONDS,
    crawl_delay=st.none() | SECONDS,
    backoff=SECONDS,
    extra=SECONDS,
    floor=SECONDS,
    is_public=st.booleans(),
    seed=st.integers(0, 9),
)
def test_the_delay_is_never_below_any_of_its_floors(
    delay: float | None,
    base: float,
    least: float,
    crawl_delay: float | None,
    backoff: float,
    extra: float,
    floor: float,
    is_public: bool,
    seed: int,
) -> None:
    own = Politeness(delay_s=delay, base_delay_s=base, min_delay_s=least)
    settings = CrawlConfig(politeness=own)
    state = replace(HOST, crawl_delay_s=crawl_delay, backoff_s=backoff)
    actual = delay_s(
        state,
        settings,
        floor_s=floor,
        is_public=is_public,
        extra_s=extra,
        rng=random.Random(seed),
    )
    asked = min(crawl_delay or 0.0, settings.robots.max_crawl_delay_s)
    floors = [backoff, extra, floor, asked, base_floor_s(settings, is_public=is_public)]
    assert actual >= max(floors)
    assert actual >= (delay or 0.0)
    assert actual >= (least if is_public else 0.0)
    owed = least_s(state, settings, floor_s=floor, is_public=is_public, extra_s=extra)
    assert actual >= owed == max(floors)


@pytest.mark.parametrize(
    ("settings", "is_public", "expected_s"),
    [
        (config(base_delay_s=3.0), False, 2.0),
        (config(base_delay_s=0.3), True, 1.0),
        (config(delay_s=0.0), False, 0.0),
        (config(delay_s=5.0), True, 5.0),
        (config(rate=4.0), False, 0.25),
        (config(rate=4.0), True, 1.0),
    ],
)
def test_base_floor(settings: CrawlConfig, is_public: bool, expected_s: float) -> None:
    assert base_floor_s(settings, is_public=is_public) == pytest.approx(expected_s)


@pytest.mark.req("POL-08")
def test_trouble_doubles_the_back_off_up_to_a_cap_and_success_eases_it_g02() -> None:
    settings, state, seen = CrawlConfig(), HOST, []
    for _ in range(8):
        state = visit(state, Outcome.SERVER_ERROR, settings)
        seen.append(state.backoff_s)
    assert seen == [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0]
    seen = []
    for _ in range(7):
        state = visit(state, Outcome.OK, settings)
        seen.append(state.backoff_s)
    assert seen == [30.0, 15.0, 7.5, 3.75, 1.875, 0.0, 0.0]


@pytest.mark.parametrize("outcome", Outcome)
def test_only_strain_slows_a_host(outcome: Outcome) -> None:
    slower = visit(HOST, outcome, CrawlConfig()).backoff_s
    assert slower == (FIRST_BACKOFF_S if outcome in STRAINED else 0.0)


@pytest.mark.parametrize(
    ("asked_s", "expected_s"),
    [
        (None, 1.0),
        (0.5, 1.0),
        (90.0, 90.0),
        (9e9, 3600.0),
        (-5.0, 1.0),
        (float("nan"), 1.0),
        (float("inf"), 3600.0),
    ],
)
def test_retry_after_is_obeyed_up_to_the_cap_c71(asked_s: float | None, expected_s: float) -> None:
    state = visit(HOST, Outcome.RATE_LIMITED, CrawlConfig(), retry_after_s=asked_s)
    assert state.backoff_s == expected_s


def test_a_wait_that_is_over_does_not_linger() -> None:
    waited = replace(HOST, backoff_s=3600.0)
    assert visit(waited, Outcome.OK, CrawlConfig()).backoff_s == 30.0
    assert visit(waited, Outcome.SERVER_ERROR, CrawlConfig()).backoff_s == 60.0
    assert visit(waited, Outcome.DNS_ERROR, CrawlConfig()).backoff_s == 60.0


def test_latency_is_smoothed_over_answers_only() -> None:
    state = visit(HOST, Outcome.OK, CrawlConfig(), took_s=1.0)
    assert state.latency_s == pytest.approx(1.0)
    state = visit(state, Outcome.OK, CrawlConfig(), took_s=2.0)
    assert state.latency_s == pytest.approx(1.3)
    assert visit(state, Outcome.TIMEOUT, CrawlConfig(), took_s=30.0).latency_s == state.latency_s


@pytest.mark.parametrize("outcome", sorted(UNASKED))
def test_a_host_that_was_not_asked_is_as_before(outcome: Outcome) -> None:
    assert visit(HOST, outcome, CrawlConfig()) is HOST


@pytest.mark.parametrize("outcome", sorted(UNANSWERED))
def test_a_host_that_never_answers_is_down_for_a_while(outcome: Outcome) -> None:
    state = HOST
    for count in range(DOWN_AFTER):
        assert not is_down(state, now_s=100.0), count
        state = visit(state, outcome, CrawlConfig())
    assert is_down(state, now_s=state.last_end_s + DOWN_REST_S - 1)
    assert not is_down(state, now_s=state.last_end_s + DOWN_REST_S)
    assert not is_down(visit(state, Outcome.GONE, CrawlConfig()), now_s=101.0)


@given(
    backoff=SECONDS,
    outcome=st.sampled_from(Outcome),
    started=st.floats(allow_nan=False),
    ended=st.floats(allow_nan=False),
    retry_after=st.none() | st.floats(),
    multiplier=st.floats(1, 10),
    cap=SECONDS,
)
def test_after_never_raises_and_stays_in_bounds(
    backoff: float,
    outcome: Outcome,
    started: float,
    ended: float,
    retry_after: float | None,
    multiplier: float,
    cap: float,
) -> None:
    settings = config(backoff_multiplier=multiplier, max_backoff_s=cap)
    before = replace(HOST, backoff_s=backoff, last_end_s=50.0)
    state = after(
        before,
        outcome=outcome,
        started_s=started,
        ended_s=ended,
        retry_after_s=retry_after,
        config=settings,
    )
    assert 0.0 <= state.backoff_s <= max(cap, settings.http.max_retry_after_s, backoff)
    assert state.last_end_s >= before.last_end_s
