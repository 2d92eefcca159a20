"""How soon a URL is taken: a score from 0 to 200, higher first (PRI-01, C-40).

Equal scores go in the order of discovery, which the store keeps, so one depth is first in, first
out (FRN-04).
"""

from __future__ import annotations

from geomi.model.entry import Source

START = 100
PER_DEPTH = 10
FROM_SEED = 50
FROM_SITEMAP = 20
FOR_INCLUDED = 30
LOWEST, HIGHEST = 0, 200


def score(depth: int, source: Source, *, boosted: bool) -> int:
    """Return the priority of a URL; `boosted` says that it matches an include pattern."""
    points = START - PER_DEPTH * depth
    if source is Source.SEED:
        points += FROM_SEED
    elif source is Source.SITEMAP:
        points += FROM_SITEMAP
    if boosted:
        points += FOR_INCLUDED
    return min(max(points, LOWEST), HIGHEST)
