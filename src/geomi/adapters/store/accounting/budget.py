"""How many URLs may wait at once, and what a job's own row says about settling its visits.

No site, and no endless part of one, may fill the frontier. A URL beyond the limit is counted like
a link that a rule keeps out, with examples; the next page that links to it may find more room. A
redirect's target always has room: it takes the place of the URL that led to it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from geomi.frontier.importance import FIRST_CASH
from geomi.frontier.priority import shares
from geomi.model.config import CrawlConfig, UrlOrder
from geomi.model.entry import Discovered
from geomi.model.verdict import WaitingLimit


@dataclass(frozen=True, slots=True)
class QueueBudget:
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

    def beside(self, others: int, *, overall: int) -> QueueBudget:
        """Return what is left where URLs of other jobs wait, too, and all together are limited."""
        return replace(self, beside_others=max(0, overall - others))


NO_QUEUE_BUDGET = QueueBudget()


class QueueRoom:
    """How much room a job has left while one transaction adds to it.

    Args:
        waiting: how many URLs of the job wait, what ends in this transaction left out.
        in_host, in_pattern: how many wait there; asked once each, and only where there is a limit.
    """

    def __init__(
        self,
        budget: QueueBudget,
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


@dataclass(frozen=True, slots=True)
class JobTerms:
    """One job, as it is when a transaction begins.

    Args:
        number: what stands for the job in keys.
        share: how much importance counts in its order; None where it keeps no cash.
        root: the cash that its virtual root holds.
        waiting: how many of its URLs wait.
    """

    number: int
    share: float | None = None
    root: float = FIRST_CASH
    waiting: int = 0
    budget: QueueBudget = NO_QUEUE_BUDGET


def beside(terms: JobTerms, others: int, *, overall: int) -> JobTerms:
    """Return the terms of a job where URLs of other jobs wait, too, and all may be so many."""
    return replace(terms, budget=terms.budget.beside(others, overall=overall))


def terms_of(row: tuple[int, float | None, float, int, int, int, int]) -> JobTerms:
    """Read a job's terms."""
    number, share, root, waiting, *budget = row
    return JobTerms(number, share, root, waiting, QueueBudget(*budget))


def share_of(config: CrawlConfig) -> float | None:
    """Return how much importance counts in a job's order; None where it keeps no cash."""
    return shares(config.weights)[0] if config.order is UrlOrder.WEIGHTED else None


def budget_of(config: CrawlConfig) -> QueueBudget:
    """Return how many URLs of a job may wait."""
    limits = config.limits
    return QueueBudget(limits.max_queued, limits.max_queued_per_host, limits.max_queued_per_pattern)
