"""How long a host rests between two requests, and what it remembers of the last one.

Rules kept:
- The delay is never below any of its floors: the job's own, the longest of all active jobs,
  Crawl-delay (C-05, POL-14), back-off, what the robots policy adds, that of public hosts (C-31).
- Jitter spreads load (C-74); on a delay that was asked for it only adds.
- Trouble makes a host slower at once, success makes it faster step by step (G-02, POL-08).
- Retry-After is obeyed up to the job's cap (C-71).
"""

from __future__ import annotations

import math
import random
from dataclasses import replace

from geomi.model.config import CrawlConfig
from geomi.model.entry import HostState
from geomi.model.verdict import Outcome

# C-31: a base of 1.5 s gives the 1 to 2 s of seed 000 §5.2.
LEAST_JITTER, MOST_JITTER = 2 / 3, 4 / 3
FIRST_BACKOFF_S = 1.0  # doubled six times it reaches the default cap of 60 s
LATENCY_WEIGHT = 0.3  # of the newest answer: about the last five count
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
    own = config.politeness
    if own.delay_s is None:
        wanted_s = own.base_delay_s * rng.uniform(LEAST_JITTER, MOST_JITTER)
    else:
        wanted_s = own.delay_s * rng.uniform(1.0, MOST_JITTER)
    return max(
        wanted_s,
        base_floor_s(config, is_public=is_public),
        _asked_by_robots_s(state, config),
        state.backoff_s,
        extra_s,
        floor_s,
    )


def base_floor_s(config: CrawlConfig, *, is_public: bool) -> float:
    """Return the least delay this job would ever use, which other jobs of a host respect."""
    own = config.politeness
    least_s = own.base_delay_s * LEAST_JITTER if own.delay_s is None else own.delay_s
    return max(least_s, own.min_delay_s) if is_public else least_s


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
    """Say whether a host has stopped answering and was asked not long ago."""
    return state.errors >= DOWN_AFTER and now_s - state.last_end_s < DOWN_REST_S


def _asked_by_robots_s(state: HostState, config: CrawlConfig) -> float:
    if state.crawl_delay_s is None or not config.robots.respect_crawl_delay:
        return 0.0
    return min(state.crawl_delay_s, config.robots.max_crawl_delay_s)


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
