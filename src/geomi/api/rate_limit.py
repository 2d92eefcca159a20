"""How many requests a tenant may send: a token bucket for each tenant.

All keys of a tenant share one bucket, so more keys give no more requests. Every process counts for
itself; with several processes a tenant has as many buckets.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

PER_S = 60.0
MAX_BUCKETS = 10_000  # those that were not used for longest are forgotten, and so are full again


@dataclass(frozen=True, slots=True)
class Allowance:
    """Whether a request may pass, and what is left of the bucket.

    Args:
        wait_s: until the next may pass, where this one may not.
        reset_s: until the bucket is full again.
    """

    is_granted: bool
    limit: int
    left: int
    wait_s: float
    reset_s: float

    @property
    def headers(self) -> dict[str, str]:
        """What is told of it with every answer."""
        return {
            "RateLimit-Limit": str(self.limit),
            "RateLimit-Remaining": str(self.left),
            "RateLimit-Reset": str(int(self.reset_s + 0.999)),
        }


class RateLimiter:
    """The buckets of all tenants.

    Args:
        per_minute: how fast each fills, and how much it holds; 0 is no limit.
    """

    def __init__(self, per_minute: int) -> None:
        self._per_minute = per_minute
        self._rate = per_minute / PER_S
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, tenant: str, *, now_s: float) -> Allowance | None:
        """Take one request out of a tenant's bucket; None where there is no limit."""
        if not self._per_minute:
            return None
        size = float(self._per_minute)
        level, at_s = self._levels.pop(tenant, (size, now_s))
        level = min(size, level + max(0.0, now_s - at_s) * self._rate)
        is_granted = level >= 1.0
        if is_granted:
            level -= 1.0
        self._levels[tenant] = level, now_s
        while len(self._levels) > MAX_BUCKETS:
            self._levels.popitem(last=False)
        wait_s = 0.0 if is_granted else (1.0 - level) / self._rate
        reset_s = (size - level) / self._rate
        return Allowance(is_granted, self._per_minute, int(level), wait_s, reset_s)
