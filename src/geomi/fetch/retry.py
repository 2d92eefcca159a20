"""Decide whether geomi tries a visit again, and when: the table of ERR-06 to ERR-11.

Rules kept:
- To each wait of the table the job's share of jitter is added (C-36): none is ever shorter than the
  table's, or than Retry-After (C-71).
- Retry-After counts for 429 and 503, up to the job's cap. The host backs off for a longer one.
- An outcome that is not in the table fails at once. `http.max_retries` limits all retries.
"""

from __future__ import annotations

import random
from datetime import UTC
from email.utils import parsedate_to_datetime

from geomi.model.config import CrawlConfig
from geomi.model.verdict import Outcome

MAX_VALUE_CHARS = 64  # the longest HTTP-date has 33
RETRY_AFTER_STATUSES = frozenset({429, 503})

# Seconds before each further try, by status where it has a row of its own, else by outcome.
BY_STATUS: dict[int, tuple[float, ...]] = {503: (30.0, 60.0, 120.0)}  # ERR-09
BY_OUTCOME: dict[Outcome, tuple[float, ...]] = {
    Outcome.RATE_LIMITED: (60.0,),  # ERR-06
    Outcome.SERVER_ERROR: (30.0, 60.0),  # ERR-07, ERR-08
    Outcome.DNS_ERROR: (30.0,),  # ERR-10
    Outcome.CONNECT_ERROR: (30.0,),
    Outcome.PROTOCOL_ERROR: (30.0,),  # a connection that broke off in the middle
    Outcome.TIMEOUT: (30.0,),  # ERR-11, 408 and 425 too (G-01)
}


def retry(
    outcome: Outcome,
    status: int,
    attempts: int,
    *,
    retry_after_s: float | None,
    rng: random.Random,
    config: CrawlConfig,
) -> float | None:
    """Return how long to wait before the next try; None when there is none.

    Args:
        attempts: how often the URL was tried before this visit.
    """
    waits = BY_OUTCOME.get(outcome, ())
    if outcome is Outcome.SERVER_ERROR:
        waits = BY_STATUS.get(status, waits)
    if attempts >= min(len(waits), config.http.max_retries):
        return None
    wait_s = waits[attempts] * rng.uniform(1.0, 1.0 + config.http.retry_jitter)
    if retry_after_s is not None and status in RETRY_AFTER_STATUSES:
        wait_s = max(wait_s, min(retry_after_s, config.http.max_retry_after_s))
    return wait_s


def parse_retry_after(value: str, *, wall_s: float) -> float | None:
    """Read a Retry-After header: seconds or an HTTP-date (RFC 9110 §10.2.3), None if neither."""
    text = value.strip()
    if not text or len(text) > MAX_VALUE_CHARS:
        return None
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        at = parsedate_to_datetime(text)
        return max(0.0, at.replace(tzinfo=at.tzinfo or UTC).timestamp() - wall_s)
    except (ValueError, OverflowError):
        return None
