"""How soon a URL is taken: a number from 0 to 200, higher first (C-40).

By score, which knows where a URL was found (PRI-01), or by depth alone (FRN-03, LNK-01). Equal
numbers go in the order of discovery, which the store keeps, so one depth is first in, first out
(FRN-04).
"""

from __future__ import annotations

from typing import assert_never

from geomi.model.config import Order
from geomi.model.entry import Source

START = 100
PER_DEPTH = 10
FROM_SEED = 50
FROM_SITEMAP = 20
FOR_INCLUDED = 30
LOWEST, HIGHEST = 0, 200


def priority(order: Order, depth: int, source: Source, *, boosted: bool) -> int:
    """Return the priority of a URL in a job's order."""
    match order:
        case Order.SCORE:
            return score(depth, source, boosted=boosted)
        case Order.BFS:
            return max(HIGHEST - depth, LOWEST)
        case _ as unknown:
            assert_never(unknown)


def score(depth: int, source: Source, *, boosted: bool) -> int:
    """Return the score of a URL; `boosted` says that it matches an include pattern."""
    points = START - PER_DEPTH * depth
    if source is Source.SEED:
        points += FROM_SEED
    elif source is Source.SITEMAP:
        points += FROM_SITEMAP
    if boosted:
        points += FOR_INCLUDED
    return min(max(points, LOWEST), HIGHEST)
