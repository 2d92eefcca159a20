"""How many URLs may wait at once, so that no site, and no endless part of one, fills the frontier.

What is found beyond that is counted like a link that a rule keeps out, with examples: the next page
that links to it may find more room, and a job that is resumed with more room takes it then. A
redirect's target always has room: it takes the place of the URL that led to it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from geomi.model.entry import Discovered
from geomi.model.verdict import WaitingLimit


@dataclass(frozen=True, slots=True)
class Budget:
    """How many URLs of a job may wait: in all, of one host, of one pattern; 0 is no limit.

    Args:
        beside_others: what the limit over all jobs (FRN-15) leaves of it; None without one.
    """

    per_job: int = 0
    per_host: int = 0
    per_pattern: int = 0
    beside_others: int | None = None

    def suffices(self, waiting: int, found: int) -> bool:
        """Whether so many finds need not be counted one by one."""
        is_wide = not self.per_job or waiting + found <= self.per_job
        is_free = self.beside_others is None or waiting + found <= self.beside_others
        return is_wide and is_free and not self.per_host and not self.per_pattern

    def beside(self, others: int, *, overall: int) -> Budget:
        """Return what is left where URLs of other jobs wait, too, and all together are limited."""
        return replace(self, beside_others=max(0, overall - others))


NO_BUDGET = Budget()


class Rooms:
    """How much room a job has left while one transaction adds to it.

    Args:
        waiting: how many URLs of the job wait, what ends in this transaction left out.
        in_host, in_pattern: how many wait there; asked once each, and only where there is a limit.
    """

    def __init__(
        self,
        budget: Budget,
        waiting: int,
        in_host: Callable[[str], int],
        in_pattern: Callable[[str, str], int],
    ) -> None:
        self._budget = budget
        self._waiting = waiting
        self._in_host = in_host
        self._in_pattern = in_pattern
        self._hosts: dict[str, int] = {}
        self._patterns: dict[tuple[str, str], int] = {}

    def take(self, url: Discovered) -> str:
        """Take room for a new URL; name the limit where there is none."""
        budget, host, place = self._budget, url.host, (url.host, url.pattern)
        if budget.per_host and host not in self._hosts:
            self._hosts[host] = self._in_host(host)
        if budget.per_pattern and url.pattern and place not in self._patterns:
            self._patterns[place] = self._in_pattern(*place)
        if not url.hops:
            if budget.beside_others is not None and self._waiting >= budget.beside_others:
                return WaitingLimit.OF_ALL
            if budget.per_job and self._waiting >= budget.per_job:
                return WaitingLimit.OF_JOB
            if budget.per_host and self._hosts[host] >= budget.per_host:
                return WaitingLimit.OF_HOST
            if place in self._patterns and self._patterns[place] >= budget.per_pattern:
                return WaitingLimit.OF_PATTERN
        self._waiting += 1
        if host in self._hosts:
            self._hosts[host] += 1
        if place in self._patterns:
            self._patterns[place] += 1
        return ""
