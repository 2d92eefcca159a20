"""When a page is due again: each page learns its own interval (CHG-06, C-38).

Rules kept:
- All pages begin with one interval, except where a sitemap says when the page changed last: then
  with a tenth of its age, as caches do (RFC 9111 §4.2.2, C-82).
- A change found halves the interval, no change lengthens it by half.
- The interval stays between the job's bounds.
"""

from __future__ import annotations

from geomi.model.config import Recrawl
from geomi.model.page import PageRecord

# Down faster than up: a missed change costs a reader more than one needless conditional request.
WHEN_CHANGED = 0.5
WHEN_UNCHANGED = 1.5
SHARE_OF_AGE = 0.1


def due_s(
    now_s: float,
    *,
    previous: PageRecord | None,
    changed: bool,
    rules: Recrawl,
    lastmod_s: float | None = None,
) -> float:
    """Return when a page visited now should be visited again.

    Args:
        previous: the record of the visit before, on the same clock as `now_s`; None at the first.
        lastmod_s: when a sitemap says that the page changed last, on the same clock.
    """
    if previous is None or previous.due_s <= previous.fetched_at_s:
        interval_s = _first_s(now_s, lastmod_s, rules)
    else:
        planned_s = previous.due_s - previous.fetched_at_s
        interval_s = planned_s * (WHEN_CHANGED if changed else WHEN_UNCHANGED)
    return now_s + min(max(interval_s, rules.min_interval_s), rules.max_interval_s)


def _first_s(now_s: float, lastmod_s: float | None, rules: Recrawl) -> float:
    """Return the first interval; a change that lies in the future tells nothing."""
    if lastmod_s is None or lastmod_s > now_s:
        return rules.first_interval_s
    return (now_s - lastmod_s) * SHARE_OF_AGE
