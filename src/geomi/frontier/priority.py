"""How soon a URL is taken: a whole number, higher first (C-40, C-79).

By score, which knows where a URL was found (PRI-01), or by depth alone (FRN-03, LNK-01): 0 to 200.
Or by a weighted sum of importance, traffic and freshness (PRI-02), each from 0 to 1, in millionths:
its merit is known when a URL is found, its importance grows while it waits and is added by the
store. Equal numbers go in the order of discovery, which the store keeps, so one depth is first in,
first out (FRN-04).
"""

from __future__ import annotations

from typing import assert_never

from geomi.model.entry import Source
from geomi.model.order import Order, Preset, Weights

START = 100
PER_DEPTH = 10
FROM_SEED = 50
FROM_SITEMAP = 20
FOR_INCLUDED = 30
LOWEST, HIGHEST = 0, 200

# A weighted score of 1. Whole numbers compare alike in every store, and a millionth is less than
# what separates the cash of any two pages that a person could tell apart.
WHOLE = 1_000_000

Shares = tuple[float, float, float]  # of importance, traffic and freshness; together 1, or all 0

PRESETS: dict[Preset, Shares] = {  # PRI-03, G-05
    Preset.BALANCED: (1 / 3, 1 / 3, 1 / 3),
    Preset.NEWS: (0.2, 0.2, 0.6),
    Preset.ACADEMIC: (0.6, 0.1, 0.3),
    Preset.SHOP: (0.2, 0.6, 0.2),
}


def priority(order: Order, depth: int, source: Source, *, boosted: bool) -> int:
    """Return the priority of a URL in a job's order."""
    match order:
        case Order.SCORE:
            return score(depth, source, boosted=boosted)
        case Order.BFS:
            return max(HIGHEST - depth, LOWEST)
        case Order.WEIGHTED:
            return LOWEST  # what it is worth depends on its site and on who links to it
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


def shares(weights: Weights) -> Shares:
    """Return how much each part counts, so that a score stays between 0 and 1."""
    named = (weights.importance, weights.traffic, weights.freshness)
    preset = PRESETS[weights.preset]
    given = [own if own is not None else its for own, its in zip(named, preset, strict=True)]
    total = sum(given) or 1.0
    return given[0] / total, given[1] / total, given[2] / total


def merit(weights: Weights, *, traffic: float, freshness: float) -> int:
    """Return what a URL is worth apart from who links to it (PRI-02)."""
    _, of_traffic, of_freshness = shares(weights)
    return round(WHOLE * (of_traffic * traffic + of_freshness * freshness))
