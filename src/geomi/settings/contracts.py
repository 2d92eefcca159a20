"""What contracts of the seed engine say about a crawl of their domains."""

from __future__ import annotations

import math

from geomi.model.handover import Handover
from geomi.settings.layers import Layer, Resolved
from geomi.settings.profiles import read_profile

MAX_PAGES = "limits.max_pages"


def contracts_layer(handover: Handover, below: Resolved) -> Layer:
    """Return what contracts say: which sitemaps there are, and that each start URL has a page.

    No more pages are asked for than the profile lets anybody ask for.

    Args:
        below: what holds without them.
    """
    values: dict[str, object] = {}
    if handover.sitemaps:
        values["scope.sitemap_urls"] = handover.sitemaps
    if 0 < below.config.limits.max_pages < len(handover.seeds):
        allowed = read_profile(below.run.profile).ranges.get(MAX_PAGES)
        most = allowed.high if allowed is not None else math.inf
        values[MAX_PAGES] = int(min(len(handover.seeds), most))
    return Layer(f"contracts of {handover.source}", values)
