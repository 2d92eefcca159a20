"""How many requests an hour or a day may still take, counted by the minute (POL-03).

A count knows its minute only, so each of its requests may be as young as the end of that minute;
and whoever holds a permit sends within the next one. No window of an hour or a day, wherever it
starts, then holds more than its cap. What that costs is two minutes of each window.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

MINUTE_S = 60
HOUR, DAY = 60, 24 * 60  # in minutes
SENT_WITHIN = 1  # minutes between a permit and its request

Counts = Sequence[tuple[int, int]]  # (minute, requests), the newest first


def minute_of(now_s: float) -> int:
    """Return the minute that a moment belongs to."""
    return int(now_s // MINUTE_S)


def oldest_counted(minute: int, length: int) -> int:
    """Return the first minute that may reach into a window of this length ending in `minute`."""
    return minute - length - SENT_WITHIN


def permitted_s(counts: Counts, *, per_hour: int, per_day: int, now_s: float) -> float:
    """Return `now_s` when one more request may be sent, else when to ask again; 0 is no cap."""
    return max(
        _permitted_s(counts, HOUR, per_hour, now_s), _permitted_s(counts, DAY, per_day, now_s)
    )


def _permitted_s(counts: Counts, length: int, cap: int, now_s: float) -> float:
    if not cap:
        return now_s
    oldest = oldest_counted(minute_of(now_s), length)
    for (minute, _), total in zip(counts, accumulate(many for _, many in counts), strict=True):
        if minute < oldest:
            return now_s
        if total >= cap:  # this minute has to leave the window before one more fits
            return float((minute + length + SENT_WITHIN + 1) * MINUTE_S)
    return now_s
