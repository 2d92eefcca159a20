"""What a first reading of the log tells, before any of its requests is judged.

- Since when a job's present settings hold. They can change when a job is resumed, and one process
  at a time runs a job: workers that were active at the same time belong to one run. Only what the
  last run has sent is held against the settings of today.
- Where a robots.txt redirected: only from there does the search for one lead to another path.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_right
from collections.abc import Iterable

from geomi.model.asked import Asked, Purpose
from geomi.model.verdict import Outcome

# Two processes may read their clocks so far apart, and sums of seconds since 1970 are rounded.
ROUNDING_S = 0.001
# A redirect to another host waits for that host, for a slot and for the caps: a minute or so.
FOLLOWED_WITHIN_S = 600.0

Worker = tuple[str, str]  # a job, and who works on it


class History:
    """Keeps two times of each worker, and eight bytes of each robots.txt that redirected."""

    def __init__(self) -> None:
        self._spans: dict[str, dict[str, tuple[float, float]]] = {}
        self._redirects: dict[Worker, array[float]] = {}
        self._since_s: dict[str, float] = {}

    def add(self, asked: Asked) -> None:
        """Take a request; the order does not matter."""
        spans, start_s = self._spans.setdefault(asked.job, {}), asked.started_s
        first_s, last_s = spans.get(asked.owner, (start_s, start_s))
        spans[asked.owner] = min(first_s, start_s), max(last_s, start_s)
        if asked.purpose is Purpose.ROBOTS and asked.outcome is Outcome.REDIRECTED:
            self._redirects.setdefault((asked.job, asked.owner), array("d")).append(asked.ended_s)

    def end(self) -> None:
        """Put in order what was taken; questions come after it."""
        self._since_s = {job: _last_run_s(of_job.values()) for job, of_job in self._spans.items()}
        self._redirects = {who: array("d", sorted(of)) for who, of in self._redirects.items()}

    def is_present(self, asked: Asked) -> bool:
        """Say whether the settings that its job has today held for a request too."""
        return asked.started_s >= self._since_s.get(asked.job, -math.inf)

    def is_followed(self, asked: Asked) -> bool:
        """Say whether a robots.txt had redirected the worker just before."""
        ends_s = self._redirects.get((asked.job, asked.owner), array("d"))
        before = bisect_right(ends_s, asked.started_s + ROUNDING_S)
        longest_s = FOLLOWED_WITHIN_S + asked.floor_s
        return before > 0 and asked.started_s - ends_s[before - 1] <= longest_s


def _last_run_s(spans: Iterable[tuple[float, float]]) -> float:
    """Return when the last of those runs began that spans of workers add up to."""
    newest_first = sorted(spans, key=lambda span: span[1], reverse=True)
    since_s = newest_first[0][0]
    for first_s, last_s in newest_first:
        if last_s < since_s:
            break
        since_s = min(since_s, first_s)
    return since_s
