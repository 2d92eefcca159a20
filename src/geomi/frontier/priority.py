"""Compute the priority of a URL: a whole number, the highest first (C-40, C-79).

There are three ways. `score` uses where a URL was found (PRI-01), `bfs` the depth alone (FRN-03,
LNK-01): both give 0 to 200. `weighted` is a weighted sum of importance, traffic and freshness
(PRI-02), each from 0 to 1, in millionths. The merit of a URL is known when it is found; its
importance grows while it waits, and the store adds it. Equal numbers go in the order of discovery,
which the store keeps, so one depth is first in, first out (FRN-04).

Freshness says how likely a visit is to find something new (PRI-08, CHG-05). A known page changes
about once in its learned interval, so the chance grows with the time since the last visit. An
unknown page is as fresh as the date its sitemap gives it. All times are on one clock.

Traffic says how much people visit a site. Lists such as Tranco's name the busiest first (PRI-06);
traffic falls with the logarithm of the rank, from 1 to 0, and is 0 for a site that no list names.
A page of a busy site passes half of its traffic value on to its links (PRI-07).
"""

from __future__ import annotations

import math
from typing import assert_never

from geomi.model.config import Preset, UrlOrder, Weights
from geomi.model.entry import Source
from geomi.url.host import is_address, registrable_domain, split_authority

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
UNKNOWN_FRESHNESS = 0.5
FRESHNESS_HALF_LIFE_S = 7 * 86_400.0  # the first interval of every page (C-38)
LAST_RANK = 10_000_000  # lists have a million names; the largest have ten
LENT_TRAFFIC = 0.5
MOST_NAMES = 8  # of one host: from its own down to the domain that somebody registered


def priority(order: UrlOrder, depth: int, source: Source, *, boosted: bool) -> int:
    """Return the priority of a URL in a job's order."""
    match order:
        case UrlOrder.SCORE:
            return score(depth, source, boosted=boosted)
        case UrlOrder.BFS:
            return max(HIGHEST - depth, LOWEST)
        case UrlOrder.WEIGHTED:
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
        return (
            UNKNOWN_FRESHNESS
            if changed_s is None
            else 0.5 ** ((now_s - changed_s) / FRESHNESS_HALF_LIFE_S)
        )
    if changed_s is not None and changed_s > fetched_at_s:
        return 1.0
    if due_s is None or due_s <= fetched_at_s:
        return UNKNOWN_FRESHNESS
    return 1 - math.exp(-max(0.0, now_s - fetched_at_s) / (due_s - fetched_at_s))


def traffic(rank: int | None) -> float:
    """Return a site's traffic from 0 to 1."""
    if rank is None or rank > LAST_RANK:
        return 0.0
    return 1 - math.log10(max(1, rank)) / math.log10(LAST_RANK)


def raised(own: float, page: float) -> float:
    """Return the traffic of a link with what the page that it was found on lends it."""
    return max(own, LENT_TRAFFIC * page)


def names_of(host: str) -> tuple[str, ...]:
    """Return the names a list may have for `name:port`, its own first."""
    name = split_authority(host)[0]
    if is_address(name):
        return (name,)
    domain = registrable_domain(name)
    names = [name]
    while names[-1] != domain and "." in names[-1]:
        names.append(names[-1].partition(".")[2])
    return tuple(dict.fromkeys((*names[: MOST_NAMES - 1], domain)))
