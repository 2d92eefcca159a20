"""How often a page changes, and how that is known, in words."""

from __future__ import annotations

from geomi.model.history import History, Stage
from geomi.recrawl.rate import Belief, stage

DAY_S = 86_400.0
HOUR_S = 3600.0

_KNOWN_BY = {
    Stage.SHARED: "as all pages begin",
    Stage.RECORDED: "by pages like it",
    Stage.ESTIMATED: "by its own visits and pages like it",
    Stage.OWN: "by its own visits",
}


def reason(history: History, belief: Belief) -> str:
    """Say how often a page changes, at which stage of learning that is known, and from what."""
    at = stage(history)
    told = f"changes about {every(1 / belief.rate)} ({at}: {_KNOWN_BY[at]})"
    if history.visits > 1:
        told += f", {history.changes} changes in {history.visits} visits"
    if history.gone_at_s is not None:
        return f"{told}, gone at the last"
    if (history.missed_at_s or 0.0) > history.visited_at_s:
        return f"{told}, out of reach at the last"
    return told


def every(seconds: float) -> str:
    """Write an interval as people say it."""
    if seconds >= 2 * DAY_S:
        return f"every {seconds / DAY_S:,.0f} days"
    return f"every {seconds / HOUR_S:.0f} hours" if seconds >= 2 * HOUR_S else "every hour"
