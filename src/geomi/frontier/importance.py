"""Compute how important a URL is by the links found so far: OPIC, while crawling (PRI-04, adr 14).

Each waiting page holds some cash. When it settles, it gives all of it, in equal parts, to the URLs
that it links to. A page that has ended keeps nothing and passes nothing on. Rules kept:
- A job begins with cash of 1, held by a virtual root. Seeds and other URLs from outside share it.
- A page without links gives its cash to the root. The root pays each page that settles an equal
  part of its own cash. Paying all waiting pages would not change their order, and would cost a
  write for each.
- Importance is the logarithm of cash, from 0 to 1. Cash spreads over many powers of ten, and a
  weighted sum of cash would distinguish only the richest pages.
- The order of a lease's URLs is fixed, so the first leases are short: a lease never has more URLs
  than a tenth of what the job has settled.
- No URL waits for ever: every long lease begins with the URL that has waited longest.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from geomi.frontier.priority import WHOLE
from geomi.model.entry import Target

FIRST_CASH = 1.0
# The mean cash of ten billion pages that wait is 1e-10: less than that counts as nothing.
DECADES = 10
# Leases of ten from the start cost 7 % of the PageRank after 10 % of the Python documentation; of
# this length, nothing on any of three sites. After 90 pages it makes no difference any more.
SETTLED_PER_PLACE = 10
# One place in ten for the oldest costs 0.1 to 0.4 % of the area under the PageRank curve of three
# sites (0.8 % from the worst of 14 seeds), and a URL with n older ones before it is taken after
# 10 × (n + 1) visits.
LONG_LEASE = 10
LIFT = 2 * WHOLE  # above every score


def importance(cash: float) -> float:
    """Return how important cash makes a page, from 0 to 1."""
    return max(0.0, 1 + math.log10(cash) / DECADES) if cash > 0 else 0.0


def points(share: float, cash: float) -> int:
    """Return what cash adds to a priority in which importance has this share."""
    return round(WHOLE * share * importance(cash))


def lease_length(most: int, settled: int) -> int:
    """Return how many URLs of a host may be lent at once after so many visits of the job."""
    return min(most, 1 + settled // SETTLED_PER_PLACE)


def dividend(root: float, waiting: int) -> float:
    """Return what the virtual root pays to a page that settles while so many wait."""
    return max(0.0, root) / max(1, waiting)


def distribute(
    payers: Iterable[tuple[float, Sequence[Target]]],
) -> tuple[dict[Target, float], float]:
    """Give the cash of settled pages to their links; return the gifts and what is for the root."""
    gifts: dict[Target, float] = {}
    rest = 0.0
    for cash, links in payers:
        if not links:
            rest += cash
            continue
        part = cash / len(links)
        for target in links:
            gifts[target] = gifts.get(target, 0.0) + part
    return gifts, rest
