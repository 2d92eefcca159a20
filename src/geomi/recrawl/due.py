"""When a page is due again: each page learns its own interval (CHG-06, CHG-07, C-38).

Rules kept:
- All pages begin with one interval, except where a sitemap says when the page changed last: then
  with a tenth of its age, as caches do (RFC 9111 §4.2.2, C-82).
- Later a page is due when it is as likely as not to have changed; an important one sooner.
- A page that has changed at each of its last visits is due in half the time.
- A page that is gone, or not to be reached, is looked after at the longest and the first interval.
- The interval stays between the job's bounds.
"""

from __future__ import annotations

import math

from geomi.model.config import Recrawl
from geomi.model.history import History
from geomi.recrawl.budget import importance
from geomi.recrawl.rate import EVEN_ODDS, Belief

SHARE_OF_AGE = 0.1
# By chance alone a page that is visited when it is due changes so often in a row once in eight.
LONG_STREAK = 3
# What links from a seed lead to has the interval that its rate gives; seeds are visited more often.
USUAL_DEPTH = 1


def first_due_s(now_s: float, rules: Recrawl, *, lastmod_s: float | None = None) -> float:
    """Return when a page that was met now is to be visited for the second time.

    Args:
        lastmod_s: when a sitemap says that the page changed last; the future tells nothing.
    """
    if lastmod_s is None or lastmod_s > now_s:
        return now_s + _bounded(rules.first_interval_s, rules)
    return now_s + _bounded((now_s - lastmod_s) * SHARE_OF_AGE, rules)


def due_s(
    now_s: float, history: History, belief: Belief, rules: Recrawl, *, gap_s: float, depth: int
) -> float:
    """Return when a page that was visited again now is due.

    Args:
        history: with this visit.
        gap_s: how long ago the visit before was.
    """
    if history.missed_at_s == now_s:
        return now_s + _bounded(rules.first_interval_s, rules)
    if history.gone_at_s is not None:
        return now_s + rules.max_interval_s
    # Where changes are rare, the best intervals go with the root of a page's weight.
    weight = math.sqrt(importance(USUAL_DEPTH) / importance(depth))
    interval_s = weight * EVEN_ODDS / belief.rate
    if history.streak >= LONG_STREAK:
        interval_s = min(interval_s, gap_s / 2)
    return now_s + _bounded(interval_s, rules)


def _bounded(interval_s: float, rules: Recrawl) -> float:
    return min(max(interval_s, rules.min_interval_s), rules.max_interval_s)
