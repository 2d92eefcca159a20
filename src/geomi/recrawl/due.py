"""Decide when a page is due again, and on which pages to spend a budget of requests.

Each page learns its own interval (CHG-06, CHG-07, C-38). Rules kept:
- All pages begin with one interval. If a sitemap says when the page changed last, its interval is a
  tenth of its age, as in caches (RFC 9111 §4.2.2, C-82).
- Later a page is due when it has probably (50 %) changed; an important page is due sooner.
- A page that has changed at each of its last visits is due in half the time.
- A page that is gone is due after the longest interval, a page that geomi could not reach after the
  first interval.
- The interval stays between the job's bounds.

A page is fresh while the stored copy is what the site has (CHG-05). Extending a page's interval by
one more second costs `gain` of freshness for each request saved. A budget is spent best when that
is the same for all pages (J. Cho, H. Garcia-Molina: Effective page refresh policies,
2003), which is to visit, at any time, those with the highest gain (Y. Azar et al.: Tractable
near-optimal policies for crawling, 2018). Rules kept:
- The pages that change most do not win: a page that changes faster than its visits is stale anyway.
- Important pages, those near the seeds, count more.
- Pages that are gone get a visit now and then; a page that geomi could not reach waits until it is
  due.
- No page is visited sooner than the job's shortest interval.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable
from dataclasses import dataclass

from geomi.model.config import Recrawl
from geomi.model.history import PageHistory, RevisitPage
from geomi.recrawl.rate import EVEN_ODDS, Belief

SHARE_OF_AGE = 0.1
# By chance alone a page that is visited when it is due changes so often in a row once in eight.
LONG_STREAK = 3
# What links from a seed lead to has the interval that its rate gives; seeds are visited more often.
USUAL_DEPTH = 1
# One of twenty pages that are gone comes back; between 0.02 and 0.1 the bench tells no difference.
WEIGHT_OF_GONE = 0.05
_NEAR_ONE = 1e-9


def first_due_s(now_s: float, rules: Recrawl, *, lastmod_s: float | None = None) -> float:
    """Return when a page that was met now is to be visited for the second time.

    Args:
        lastmod_s: when a sitemap says that the page changed last; the future tells nothing.
    """
    if lastmod_s is None or lastmod_s > now_s:
        return now_s + _bounded(rules.first_interval_s, rules)
    return now_s + _bounded((now_s - lastmod_s) * SHARE_OF_AGE, rules)


def due_s(
    now_s: float, history: PageHistory, belief: Belief, rules: Recrawl, *, gap_s: float, depth: int
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
    weight = math.sqrt(page_weight(USUAL_DEPTH) / page_weight(depth))
    interval_s = weight * EVEN_ODDS / belief.rate
    if history.streak >= LONG_STREAK:
        interval_s = min(interval_s, gap_s / 2)
    return now_s + _bounded(interval_s, rules)


def _bounded(interval_s: float, rules: Recrawl) -> float:
    return min(max(interval_s, rules.min_interval_s), rules.max_interval_s)


@dataclass(frozen=True, slots=True)
class RevisitCandidate:
    """A page that may be visited now, what is believed of it, and what a visit would gain."""

    page: RevisitPage
    belief: Belief
    gain_s: float


def consider(
    page: RevisitPage, belief: Belief, *, now_s: float, rules: Recrawl
) -> RevisitCandidate | None:
    """Return a page with what a visit now would gain, or None where it has to wait."""
    history = page.history
    since_s = now_s - _seen_s(page)
    is_missed = (history.missed_at_s or 0.0) > history.visited_at_s
    if since_s < rules.min_interval_s or (is_missed and page.due_s > now_s):
        return None
    weight = page_weight(page.depth) * (WEIGHT_OF_GONE if history.gone_at_s is not None else 1.0)
    return RevisitCandidate(page, belief, weight * gain_s(belief, since_s))


def next_visit_s(page: RevisitPage, rules: Recrawl) -> float:
    """Return when a page is due and may be visited."""
    return max(page.due_s, _seen_s(page) + rules.min_interval_s)


def _seen_s(page: RevisitPage) -> float:
    return max(page.fetched_at_s, page.history.visited_at_s)


def gain_s(belief: Belief, since_s: float) -> float:
    """Return what a visit buys of a page that was seen so long ago, in seconds of freshness.

    For a known rate r it is (1 - (1 + r·t)·e^(-r·t)) / r; this is its mean over the belief.
    """
    shape, left = belief.shape, belief.span_s / (belief.span_s + since_s)
    less = shape - 1
    if abs(less) < _NEAR_ONE:
        less = _NEAR_ONE
    lasting, ending = math.pow(left, less), math.pow(left, shape)
    return belief.span_s / less * (1 - lasting) - since_s * ending


def page_weight(depth: int) -> float:
    """Return how much the freshness of a page counts; what lies deeper is read less."""
    return 1 / (1 + depth)


def spend(candidates: Iterable[RevisitCandidate], budget: int) -> list[RevisitCandidate]:
    """Choose the pages that a budget is best spent on, the best first."""
    return heapq.nlargest(budget, candidates, key=_order)


def _order(candidate: RevisitCandidate) -> tuple[float, float, bytes]:
    """Let equals be visited in the order of their last visits, and the same twice."""
    page = candidate.page
    return candidate.gain_s, -page.fetched_at_s, page.url_hash
