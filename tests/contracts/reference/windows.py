"""Taking requests off the caps that jobs share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from geomi.adapters.store.accounting.hosts import (
    MINUTES_PER_DAY,
    minute_of,
    oldest_counted,
    permitted_s,
    request_window,
)
from geomi.model.entry import RequestCap
from geomi.model.site import RequestWindow

Minutes = dict[tuple[str, int], int]  # requests by domain and minute


def permit(minutes: Minutes, caps: Sequence[RequestCap], *, now_s: float) -> float:
    """Count one request if all caps leave room for it; else return when to ask again."""
    minute = minute_of(now_s)
    earliest_s = max(permitted_s(counts_of(minutes, cap.domain), cap, now_s=now_s) for cap in caps)
    if earliest_s <= now_s:
        for cap in caps:
            minutes[cap.domain, minute] = minutes.get((cap.domain, minute), 0) + 1
        oldest = oldest_counted(minute, MINUTES_PER_DAY)
        for old in [one for one in minutes if one[1] < oldest]:
            del minutes[old]
    return earliest_s


def windows(minutes: Minutes, domain: str, *, now_s: float) -> list[RequestWindow]:
    """List the counts of a domain that have not expired, the newest first."""
    oldest = oldest_counted(minute_of(now_s), MINUTES_PER_DAY)
    counts = counts_of(minutes, domain)
    return [request_window(domain, minute, many) for minute, many in counts if minute >= oldest]


def counts_of(minutes: Mapping[tuple[str, int], int], domain: str) -> list[tuple[int, int]]:
    """Return the counts of a domain, the newest first."""
    own = [(minute, many) for (name, minute), many in minutes.items() if name == domain]
    return sorted(own, reverse=True)
