"""What a job's own row says about settling its visits: its order, and how much may wait."""

from __future__ import annotations

from dataclasses import dataclass, replace

from geomi.adapters.ledger.budget import NO_BUDGET, Budget
from geomi.frontier.importance import FIRST_CASH
from geomi.frontier.priority import shares
from geomi.model.config import CrawlConfig, UrlOrder


@dataclass(frozen=True, slots=True)
class Terms:
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
    budget: Budget = NO_BUDGET


def beside(terms: Terms, others: int, *, overall: int) -> Terms:
    """Return the terms of a job where URLs of other jobs wait, too, and all may be so many."""
    return replace(terms, budget=terms.budget.beside(others, overall=overall))


def terms_of(row: tuple[int, float | None, float, int, int, int, int]) -> Terms:
    """Read a job's terms."""
    number, share, root, waiting, *budget = row
    return Terms(number, share, root, waiting, Budget(*budget))


def share_of(config: CrawlConfig) -> float | None:
    """Return how much importance counts in a job's order; None where it keeps no cash."""
    return shares(config.weights)[0] if config.order is UrlOrder.WEIGHTED else None


def budget_of(config: CrawlConfig) -> Budget:
    """Return how many URLs of a job may wait."""
    limits = config.limits
    return Budget(limits.max_queued, limits.max_queued_per_host, limits.max_queued_per_pattern)
