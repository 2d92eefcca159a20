"""Learn how often a page changes, from visits that only show whether it did (CHG-05, CHG-06).

The model says that a page changes at random with some rate. The belief about the rate is a gamma
distribution. Each visit adds a change or none to its shape, and the watched time to its span (J.
Cho, H. Garcia-Molina: Estimating frequency of change, 2003).

Rules kept:
- Without a change, the page was watched for the whole gap between two visits. With a change, it was
  watched until the first change. The page's own date dates that change, or else the rate so far. A
  visit that cannot tell adds nothing.
- A page with few visits borrows from the pages of its pattern, these from the pages of the host,
  and these from the interval that all pages begin with.
- Pages of one directory with one kind of file have one pattern. A number, a date or an id is one
  place in it, and only the upper directories count: below them a pattern would have too few pages.
- If the pages of a host recently changed more, or less, than expected, geomi expects the same of
  its other pages: sites are edited in bursts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from geomi.model.config import Recrawl
from geomi.model.history import ChangePool, PageHistory, Stage, VisitEvidence

# Visits from which on a page's own word weighs as much as that of its pattern, and much more.
OWN_WORD = 3
OWN_ALONE = 6
# What pattern and host are worth, in visits that found a change; bench/freshness.py tells between
# 0.5 and 2 no difference, and more than 4 keeps pages from having a rate of their own.
BORROWED = 1.0
# How fast bursts fade, and how many changes make one.
BURST_HALF_LIFE_S = 20 * 86_400.0
BURST_INERTIA = 2.0
# A page that says it was modified just now was made for this answer.
MADE_FOR_US_S = 60.0
# A first interval is right for pages that are then as likely as not to have changed.
EVEN_ODDS = math.log(2)
MAX_DIRECTORIES = 2
MAX_PATTERN_CHARS = 120  # of a pattern; pages in longer ones are pooled by their host alone
_MAX_EXTENSION_CHARS = 5
DAY_S = 86_400.0
HOUR_S = 3600.0
_KNOWN_BY = {
    Stage.SHARED: "as all pages begin",
    Stage.RECORDED: "by pages like it",
    Stage.ESTIMATED: "by its own visits and pages like it",
    Stage.OWN: "by its own visits",
}


@dataclass(frozen=True, slots=True)
class Belief:
    """What is believed of a rate: a gamma distribution of so many changes in so much time."""

    shape: float
    span_s: float

    @property
    def rate(self) -> float:
        """Changes a second, on average."""
        return self.shape / self.span_s


@dataclass(frozen=True, slots=True)
class Gap:
    """The time between two visits of a page, and what the second found.

    Args:
        changed: None where that cannot be told.
        modified_at_s: when the page changed last by its own word (Last-Modified, a sitemap).
        is_gone: whether it brought no page, for whatever reason.
    """

    from_s: float
    to_s: float
    changed: bool | None
    modified_at_s: float | None = None
    is_gone: bool = False

    @property
    def length_s(self) -> float:
        """The time between the visits; clocks may have been set back."""
        return max(self.to_s - self.from_s, 1.0)


def stage(history: PageHistory) -> Stage:
    """Say how far a page's rate is learned."""
    gaps = history.visits - 1
    if gaps < 1:
        return Stage.SHARED
    if gaps < OWN_WORD:
        return Stage.RECORDED
    return Stage.ESTIMATED if gaps < OWN_ALONE else Stage.OWN


def believe(
    history: PageHistory, kin: ChangePool, host: ChangePool, *, now_s: float, rules: Recrawl
) -> Belief:
    """Return what is believed of a page's rate now.

    Args:
        kin: the visits of pages with its pattern.
        host: those of all pages of its host.
    """
    first = EVEN_ODDS / max(rules.first_interval_s, 1.0)
    of_host = _pooled(host, first)
    of_kin = _pooled(kin, of_host)
    span_s = history.watched_s + BORROWED / of_kin
    return Belief(history.changes + BORROWED, span_s / _burst(host, now_s))


def learn(
    history: PageHistory, gap: Gap, belief: Belief
) -> tuple[PageHistory, VisitEvidence | None]:
    """Add what a visit found to a page's history; return it with what its pools learn.

    Args:
        history: what was known before; its first visit counts by `gap` alone.
        belief: what was believed before.
    """
    is_back = not (gap.is_gone or history.is_there)
    left_at_s = gap.to_s if gap.is_gone and history.is_there else history.left_at_s
    returned_at_s = gap.to_s if is_back else history.returned_at_s
    if gap.changed is None and gap.is_gone:
        return replace(history, missed_at_s=gap.to_s, left_at_s=left_at_s), None
    if gap.changed is None:
        seen = replace(history, visited_at_s=gap.to_s, visits=max(history.visits, 1), streak=0)
        return replace(seen, returned_at_s=returned_at_s), None
    watched_s = _watched_s(gap, belief.rate)
    changed = gap.changed
    learned = PageHistory(
        visited_at_s=gap.to_s,
        visits=max(history.visits, 1) + 1,
        changes=history.changes + changed,
        streak=history.streak + 1 if changed else 0,
        watched_s=history.watched_s + watched_s,
        changed_at_s=_dated(gap) or gap.to_s if changed else history.changed_at_s,
        gone_at_s=(history.gone_at_s or gap.to_s) if gap.is_gone else None,
        left_at_s=left_at_s,
        returned_at_s=returned_at_s,
    )
    expected = -math.expm1(-belief.rate * gap.length_s)
    return learned, VisitEvidence(gap.to_s, changed, watched_s, expected)


def pooled(pool: ChangePool, evidence: VisitEvidence) -> ChangePool:
    """Add one visit to the pool of its page."""
    found, expected = _faded(pool, evidence.at_s)
    return ChangePool(
        changes=pool.changes + evidence.changed,
        watched_s=pool.watched_s + evidence.watched_s,
        found=found + evidence.changed,
        expected=expected + evidence.expected,
        at_s=max(pool.at_s, evidence.at_s),
    )


def _pooled(pool: ChangePool, prior: float) -> float:
    """Return the rate of a pool, which is `prior` as long as it has seen nothing."""
    return (pool.changes + BORROWED) / (pool.watched_s + BORROWED / prior)


def _burst(host: ChangePool, now_s: float) -> float:
    """Return how much more than expected the pages of a host change of late; 1 for no news."""
    found, expected = _faded(host, now_s)
    return (found + BURST_INERTIA) / (expected + BURST_INERTIA)


def _faded(pool: ChangePool, now_s: float) -> tuple[float, float]:
    left = 0.5 ** (max(now_s - pool.at_s, 0.0) / BURST_HALF_LIFE_S)
    return pool.found * left, pool.expected * left


def _watched_s(gap: Gap, rate: float) -> float:
    """Return for how long a page was watched: until its first change, or all the time."""
    if not gap.changed:
        return gap.length_s
    if (at_s := _dated(gap)) is not None:
        # The last change is dated, not the first; run backwards, time looks the same.
        return max(gap.to_s - at_s, 1.0)
    likely = rate * gap.length_s
    if likely < 1e-6:
        return gap.length_s / 2
    return 1 / rate - gap.length_s / math.expm1(likely) if likely < 500 else 1 / rate


def _dated(gap: Gap) -> float | None:
    """Return when a page changed by its own word, if that can be true."""
    at_s = gap.modified_at_s
    is_likely = at_s is not None and gap.from_s < at_s < gap.to_s - MADE_FOR_US_S
    return at_s if is_likely else None


def change_pattern(url: str) -> str:
    """Return the pattern of a page's URL; empty where its host alone is its kind."""
    # Stored URLs are canonical, and a walk asks for millions of them: no parser is needed.
    path = url.partition("://")[2].partition("/")[2].partition("?")[0].partition("#")[0]
    *directories, name = path.split("/")
    stem, dot, extension = name.rpartition(".")
    ending = f".{extension.lower()}" if stem and _is_extension(extension) and dot else ""
    places = [_generalised(part) for part in directories[:MAX_DIRECTORIES]]
    pattern = "/".join(["", *places, f"*{ending}"])
    return pattern if len(pattern) <= MAX_PATTERN_CHARS else ""


def _is_extension(text: str) -> bool:
    return 0 < len(text) <= _MAX_EXTENSION_CHARS and text.isalnum()


def _generalised(part: str) -> str:
    """Let one name stand for all that differ in their digits."""
    return "#" if any(letter.isdigit() for letter in part) else part


def describe_rate(history: PageHistory, belief: Belief) -> str:
    """Say how often a page changes, at which stage of learning that is known, and from what."""
    at = stage(history)
    told = f"changes about {describe_interval(1 / belief.rate)} ({at}: {_KNOWN_BY[at]})"
    if history.visits > 1:
        told += f", {history.changes} changes in {history.visits} visits"
    if history.gone_at_s is not None:
        return f"{told}, gone at the last"
    if (history.missed_at_s or 0.0) > history.visited_at_s:
        return f"{told}, out of reach at the last"
    return told


def describe_interval(seconds: float) -> str:
    """Write an interval as people say it."""
    if seconds >= 2 * DAY_S:
        return f"every {seconds / DAY_S:,.0f} days"
    return f"every {seconds / HOUR_S:.0f} hours" if seconds >= 2 * HOUR_S else "every hour"
