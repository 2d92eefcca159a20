"""When a page is due again: each page learns its own interval (CHG-06, C-38).

Rules kept:
- All pages begin with one interval; a change found halves it, no change lengthens it by half.
- The interval stays between the job's bounds.
"""

from __future__ import annotations

from geomi.model.config import Recrawl
from geomi.model.page import PageRecord

# Down faster than up: a missed change costs a reader more than one needless conditional request.
WHEN_CHANGED = 0.5
WHEN_UNCHANGED = 1.5


def due_s(now_s: float, *, previous: PageRecord | None, changed: bool, rules: Recrawl) -> float:
    """Return when a page visited now should be visited again.

    Args:
        previous: the record of the visit before, on the same clock as `now_s`; None at the first.
    """
    if previous is None or previous.due_s <= previous.fetched_at_s:
        interval_s = rules.first_interval_s
    else:
        planned_s = previous.due_s - previous.fetched_at_s
        interval_s = planned_s * (WHEN_CHANGED if changed else WHEN_UNCHANGED)
    return now_s + min(max(interval_s, rules.min_interval_s), rules.max_interval_s)
