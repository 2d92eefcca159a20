"""How likely a visit is to find something new, from 0 to 1 (PRI-08, CHG-05).

A page that is known changes about once in its learned interval: the chance that it has changed
since the last visit grows with the time since then. A page that is not known is as fresh as the
date its sitemap gives it; without one, nobody can tell. All times are on one clock.
"""

from __future__ import annotations

import math

UNKNOWN = 0.5
HALF_LIFE_S = 7 * 86_400.0  # the first interval of every page (C-38)


def freshness(
    now_s: float,
    *,
    fetched_at_s: float | None = None,
    due_s: float | None = None,
    lastmod_s: float | None = None,
) -> float:
    """Return how fresh a visit would be now.

    Args:
        fetched_at_s, due_s: the last visit and when the next was planned; None before the first.
        lastmod_s: when a sitemap says that the page changed last.
    """
    changed_s = lastmod_s if lastmod_s is not None and lastmod_s <= now_s else None
    if fetched_at_s is None:
        return UNKNOWN if changed_s is None else 0.5 ** ((now_s - changed_s) / HALF_LIFE_S)
    if changed_s is not None and changed_s > fetched_at_s:
        return 1.0
    if due_s is None or due_s <= fetched_at_s:
        return UNKNOWN
    return 1 - math.exp(-max(0.0, now_s - fetched_at_s) / (due_s - fetched_at_s))
