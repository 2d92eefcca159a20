"""Derive all times of a lease from one number: how long a worker may be silent.

A worker that dies keeps its hosts for that long. It sends no request that could end after its
lease, and it counts as dead only when every request it could have sent is over.
"""

from __future__ import annotations

from geomi.engine.world import SILENCE_S
from geomi.model.config import CrawlConfig

# A wait longer than this share of the silence is better spent by giving the host back than by
# holding its lease.
HOLD_SHARE = 0.5
# How often a lease is renewed at least, to learn that it was lost, or that a slower job has left
# its host; that one has joined is read before a request (`JOINED_S`). A renewal is one small write.
# A worker whose silence is short renews more often.
HEARD_S = 5.0
HEARD_SHARE = 1 / 12
# How old the word of a slower job that has joined may be: a crawl without a delay sends hundreds of
# requests a second, and a look before each would cost it more than its turn.
JOINED_S = 0.1


def lease_s(config: CrawlConfig, silence_s: float = SILENCE_S) -> float:
    """Return how long a host is lent: one whole request, the longest rest held, and the silence.

    It outlives any request inside it and the rest that follows, so that a worker that dies leaves
    its host alone for at least one delay.
    """
    return longest_request_s(config) + hold_s(silence_s) + silence_s


def longest_request_s(config: CrawlConfig) -> float:
    """Return the total deadline of a job's most patient request."""
    return max(config.http.total_timeout_s, config.robots.total_timeout_s)


def hold_s(silence_s: float) -> float:
    """Return the longest rest for which a host is held."""
    return silence_s * HOLD_SHARE


def hear_every_s(silence_s: float) -> float:
    """Return how old the store's last word about a lease may be when a request is sent."""
    return min(HEARD_S, silence_s * HEARD_SHARE)
