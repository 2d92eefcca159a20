"""What contracts of the seed engine say about a crawl of their domains."""

from __future__ import annotations

from geomi.model.handover import Handover
from geomi.settings.layers import Layer, Resolved


def contracts_layer(handover: Handover, below: Resolved) -> Layer:
    """Return what contracts say: which sitemaps there are, and that each start URL has a page.

    Args:
        below: what holds without them.
    """
    values: dict[str, object] = {}
    if handover.sitemaps:
        values["scope.sitemap_urls"] = handover.sitemaps
    if 0 < below.config.limits.max_pages < len(handover.seeds):
        values["limits.max_pages"] = len(handover.seeds)
    return Layer(f"contracts of {handover.source}", values)
