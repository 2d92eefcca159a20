"""Taking requests off the caps that all jobs share."""

from __future__ import annotations

from geomi.adapters.store.accounting.hosts import (
    MINUTES_PER_DAY,
    minute_of,
    oldest_counted,
    permitted_s,
)


def permit(minutes: dict[int, int], *, per_hour: int, per_day: int, now_s: float) -> float:
    """Count one request if the caps leave room for it; else return when to ask again."""
    minute = minute_of(now_s)
    counts = sorted(minutes.items(), reverse=True)
    earliest_s = permitted_s(counts, per_hour=per_hour, per_day=per_day, now_s=now_s)
    if earliest_s <= now_s:
        minutes[minute] = minutes.get(minute, 0) + 1
        for old in [one for one in minutes if one < oldest_counted(minute, MINUTES_PER_DAY)]:
            del minutes[old]
    return earliest_s
