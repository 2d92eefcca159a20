"""Decide how long a host rests between two requests, and update its state after each.

Rules kept:
- The delay is never below any of its floors: the job's own, the longest of all active jobs,
  Crawl-delay (C-05, POL-14), back-off, what the robots policy adds, the time a slow host takes to
  answer, that of public hosts (C-31).
- Of a delay and a rate the slower wins; a rate alone replaces the base delay (C-32).
- Jitter spreads load (C-74); to a delay that a user set, it only adds.
- A burst postpones rests and skips none (POL-08, G-02): in any window a host gets at most the burst
  and one request for each delay. A burst postpones only the job's own delay; every other floor
  holds at once.
- Errors make a host slower at once, success makes it faster step by step (G-02, POL-08).
- Retry-After is obeyed up to the job's cap (C-71).
"""

from __future__ import annotations

import math
import random
from dataclasses import replace

from geomi.model.config import CrawlConfig, Politeness
from geomi.model.entry import HostState
from geomi.model.verdict import Outcome

# C-31: a base of 1.5 s gives the 1 to 2 s of seed 000 §5.2.
LEAST_JITTER, MOST_JITTER = 2 / 3, 4 / 3
FIRST_BACKOFF_S = 1.0  # doubled six times it reaches the default cap of 60 s
LATENCY_WEIGHT = 0.3  # of the newest answer: about the last five count
SLOW_S = 1.0  # who takes longer to answer has enough to do without us
# Five connections in a row without an answer: more URLs of the host would only fail one by one.
DOWN_AFTER = 5
DOWN_REST_S = 300.0  # then one request may find out whether it is back

# The host told us, or showed us, that it has too much to do.
STRAINED = frozenset(
    {Outcome.RATE_LIMITED, Outcome.SERVER_ERROR, Outcome.TIMEOUT, Outcome.CONNECT_ERROR}
)
# No server answered.
UNANSWERED = frozenset(
    {Outcome.TIMEOUT, Outcome.CONNECT_ERROR, Outcome.DNS_ERROR, Outcome.TLS_ERROR}
)
# Nothing was sent.
UNASKED = frozenset({Outcome.ROBOTS, Outcome.ADDRESS_REFUSED})


def delay_s(
    state: HostState,
    config: CrawlConfig,
    *,
    floor_s: float,
    is_public: bool,
    extra_s: float,
    rng: random.Random,
) -> float:
    """Return how long the host rests from the end of its last response to the next request."""
    wanted_s = rng.uniform(*_range_s(config.politeness))
    firm = firm_s(state, config, floor_s=floor_s, is_public=is_public, extra_s=extra_s)
    return max(wanted_s, firm)


def mean_s(
    state: HostState, config: CrawlConfig, *, floor_s: float, is_public: bool, extra_s: float
) -> float:
    """Return what `delay_s` is on average, for whoever plans."""
    firm = firm_s(state, config, floor_s=floor_s, is_public=is_public, extra_s=extra_s)
    return max(sum(_range_s(config.politeness)) / 2, firm)


def least_s(
    state: HostState, config: CrawlConfig, *, floor_s: float, is_public: bool, extra_s: float
) -> float:
    """Return the least that `delay_s` may be: jitter is left out."""
    firm = firm_s(state, config, floor_s=floor_s, is_public=is_public, extra_s=extra_s)
    return max(_own_s(config.politeness), firm)


def firm_s(
    state: HostState, config: CrawlConfig, *, floor_s: float, is_public: bool, extra_s: float
) -> float:
    """Return the part of the delay that no burst shortens: all but the job's own delay.

    Args:
        floor_s: the longest delay among the active jobs of the host; ours is one of them.
        extra_s: what the robots policy adds.
    """
    own = config.politeness
    return max(
        own.min_delay_s if is_public else 0.0,
        _asked_by_robots_s(state, config),
        state.backoff_s,
        _slowness_s(state, own),
        extra_s,
        floor_s if floor_s > _own_s(own) else 0.0,
    )


def base_floor_s(config: CrawlConfig, *, is_public: bool) -> float:
    """Return the least delay this job would ever use, which other jobs of a host respect."""
    least = _own_s(config.politeness)
    return max(least, config.politeness.min_delay_s) if is_public else least


def credit_s(config: CrawlConfig) -> float:
    """Return how much rest may be owed while requests follow one another in a burst."""
    return (config.politeness.burst - 1) * _own_s(config.politeness)


def after(
    state: HostState,
    *,
    outcome: Outcome,
    started_s: float,
    ended_s: float,
    retry_after_s: float | None,
    config: CrawlConfig,
) -> HostState:
    """Return what is remembered of a host after one request to it."""
    if outcome in UNASKED:
        return state
    is_answered = outcome not in UNANSWERED
    return replace(
        state,
        last_end_s=max(state.last_end_s, ended_s),
        backoff_s=_backoff_s(state, outcome, retry_after_s, config),
        errors=0 if is_answered else state.errors + 1,
        latency_s=_latency_s(state, ended_s - started_s) if is_answered else state.latency_s,
    )


def is_down(state: HostState, *, now_s: float) -> bool:
    """Return whether a host has stopped answering and was asked not long ago."""
    return state.errors >= DOWN_AFTER and now_s - state.last_end_s < DOWN_REST_S


def _range_s(own: Politeness) -> tuple[float, float]:
    """Return the least and the greatest delay of the job itself, jitter included."""
    least = _own_s(own)
    is_asked_for = own.delay_s is not None or own.requests_per_second is not None
    return least, (least if is_asked_for else own.base_delay_s) * MOST_JITTER


def _own_s(own: Politeness) -> float:
    """Return the least delay of the job itself; the slower of a delay and a rate (C-32)."""
    if own.requests_per_second is not None:
        return max(own.delay_s or 0.0, 1 / own.requests_per_second)
    return own.base_delay_s * LEAST_JITTER if own.delay_s is None else own.delay_s


def _asked_by_robots_s(state: HostState, config: CrawlConfig) -> float:
    if state.crawl_delay_s is None or not config.robots.respect_crawl_delay:
        return 0.0
    return min(state.crawl_delay_s, config.robots.max_crawl_delay_s)


def _slowness_s(state: HostState, own: Politeness) -> float:
    if state.latency_s <= SLOW_S:
        return 0.0
    return min(own.latency_factor * state.latency_s, own.max_backoff_s)


def _backoff_s(
    state: HostState, outcome: Outcome, retry_after_s: float | None, config: CrawlConfig
) -> float:
    own = config.politeness
    # A wait that Retry-After set is over by now: it must neither grow nor linger above the cap.
    current_s = min(state.backoff_s, own.max_backoff_s)
    if outcome in STRAINED:
        grown_s = min(max(FIRST_BACKOFF_S, current_s * own.backoff_multiplier), own.max_backoff_s)
        return max(grown_s, _promised_s(retry_after_s, config))
    if outcome in UNANSWERED:
        return current_s
    eased_s = current_s / max(2.0, own.backoff_multiplier)
    return eased_s if eased_s >= FIRST_BACKOFF_S else 0.0


def _promised_s(retry_after_s: float | None, config: CrawlConfig) -> float:
    if retry_after_s is None or math.isnan(retry_after_s):
        return 0.0
    return min(max(0.0, retry_after_s), config.http.max_retry_after_s)


def _latency_s(state: HostState, took_s: float) -> float:
    took_s = max(0.0, took_s)
    if state.latency_s == 0.0:
        return took_s
    return state.latency_s + LATENCY_WEIGHT * (took_s - state.latency_s)
