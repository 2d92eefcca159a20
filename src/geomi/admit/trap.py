"""Decide whether a URL is part of a trap: from the URL itself, or from the visits of its pattern.

`detect` needs nothing but the URL, so that a verdict can be repeated at any time; its thresholds
are those of G-06 and G-07. `judge_tally` uses what the visits of one pattern (`url_pattern.py`)
brought. A pattern has a budget of visits. It may exceed the budget while its pages bring new texts
or new links, or if they link to no more URLs of the pattern. An ordinary documentation URL must
pass both; the tests have decoys for that. Sessions are no trap: the url key leaves them out
(`normalize.py`).
"""

from __future__ import annotations

import math
import re
import shlex
from dataclasses import dataclass

from geomi.admit.url_pattern import SpaceKind, kind_of
from geomi.model.entry import Tally
from geomi.model.verdict import Verdict
from geomi.url.parse import Url

MAX_PARAMETERS = 8  # G-06
MAX_REPETITIONS = 2  # G-06: the third one in a row is a loop
MAX_PATH_SEGMENTS = 25  # not tuned: well above generated API pages, of which Javadoc's lie 10 deep
FIRST_YEAR = 1800  # newspaper archives reach back to the 1850s
MAX_FREE_VISITS = 100  # of a pattern that ends within 200 fetches
YEARS_AHEAD = 2  # conferences and school calendars are published that early

# The traps that a URL shows by itself; those of a pattern are overruled by the pattern's name.
DETECTORS = ("calendar", "deep_path", "many_parameters", "repeating_path")


@dataclass(frozen=True, slots=True)
class PatternBudget:
    """How long a pattern may go on.

    Args:
        visits: so many are free.
        stale: visits in a row that led to no new place and told nothing new: the space is over.
        stale_links: whether places count at all; sessions lead to nothing but sessions.
        cap, cap_depth: a space that tells something new for ever, such as random text, ends after
            so many visits, where the URL was found inside the space, so deep, and no visit of late
            led out of it. None: never.
    """

    visits: int
    stale: int
    stale_links: bool = True
    cap: int | None = None
    cap_depth: int = 0


# A space that repeats itself ends within 200 fetches, what a worker holds already (10) included;
# numbers excepted, which real pages are made of. Visits: G-06. A space that never repeats itself
# can be told from a real archive only by its depth: pages of one are linked in breadth.
BUDGETS = {
    "calendar": PatternBudget(50, 25, cap=185, cap_depth=5),
    "dated": PatternBudget(50, 25),
    "pagination": PatternBudget(100, 25, cap=185, cap_depth=15),
    "parameters": PatternBudget(100, 25, cap=105, cap_depth=3),
    "identifiers": PatternBudget(100, 40),
    "session": PatternBudget(4, 3, stale_links=False),
    "path": PatternBudget(50, 25),
    "long": PatternBudget(50, 25, cap=85, cap_depth=15),
    "numbers": PatternBudget(1000, 100),
    SpaceKind.COPIES: PatternBudget(60, 30, stale_links=False),
    # A site that is nothing but a tree, nine pages below each, has leaves after 90 of one branch.
    SpaceKind.BRANCH: PatternBudget(95, 70, cap=95),
    SpaceKind.DEEP: PatternBudget(40, 30, cap=40),
    SpaceKind.FACETS: PatternBudget(60, 20, cap=60),
    SpaceKind.VARIANTS: PatternBudget(40, 30, cap=40),
}


# An endless space grows with almost every visit. After so many in a row that found no new URL of
# the pattern, what is left was linked from elsewhere, as from an archive page, and has an end. Not
# less than what a worker takes at once: it sees what they brought only with the next ones.
STILL_GROWING = 10


def judge_length(url: Url, max_chars: int) -> Verdict | None:
    """Refuse a URL longer than the job's limit (URL-19, TRP-06)."""
    length = len(url.href)
    if length <= max_chars:
        return None
    detail = f"{length} characters; the limit is {max_chars}"
    return Verdict(False, "url_length", detail, f"--set limits.max_url_chars={length}")


def detect(url: Url, *, now_year: int) -> Verdict | None:
    """Name the first trap this URL looks like; None if it looks like none."""
    query = _query_trap(url) if url.query else None
    return query or _path_trap(url) or _date_trap(url, now_year)


def judge_tally(
    pattern: str, tally: Tally, *, host: str, depth: int = 0, is_inside: bool = False
) -> Verdict | None:
    """Refuse one more URL of a pattern whose budget is used up and that brings nothing new.

    Args:
        is_inside: whether the URL was found on a page of the same pattern.
    """
    budget = BUDGETS.get(kind_of(pattern))
    if budget is None or tally.visited < budget.visits or tally.stale_growth >= STILL_GROWING:
        return None
    leads_nowhere = not budget.stale_links or tally.stale_links >= budget.stale
    if not leads_nowhere:
        return None
    if tally.stale_text >= budget.stale:
        told = f"the last {tally.stale_text} brought nothing new"
    elif is_inside and depth >= budget.cap_depth and tally.visited >= _cap(pattern, budget):
        told = f"the last {tally.stale_links} led nowhere else"
    else:
        return None
    template = pattern.partition(":")[2]
    return Verdict(
        False,
        f"trap.{kind_of(pattern)}",
        f"{tally.visited} of {template} were visited and {told}",
        _lift(host, pattern),
    )


def ends_within(pattern: str, space: str) -> bool:
    """Return whether a pattern ends as soon as the space that its URL was found in."""
    budget = BUDGETS[kind_of(pattern)]
    if kind_of(space) == SpaceKind.COPIES:
        return budget.visits <= MAX_FREE_VISITS
    return not math.isinf(_cap(pattern, budget))


def heeds_text(pattern: str, tally: Tally) -> bool:
    """Return whether it matters yet what a page of a pattern tells.

    Only the last visits of a budget do, and to compare a long text takes 0.16 ms; twice as many as
    are asked for, because a tally is as old as its claim.
    """
    budget = BUDGETS.get(kind_of(pattern))
    return budget is not None and tally.visited >= budget.visits - 2 * budget.stale


def _cap(pattern: str, budget: PatternBudget) -> float:
    """Return how many visits even news cannot prolong."""
    # One parameter may name all pages of a site: `index.php?page=about`.
    is_single = kind_of(pattern) == "parameters" and not pattern.endswith("?*")
    return math.inf if budget.cap is None or is_single else budget.cap


_DATE = re.compile(r"[/=](\d{4})([/-])(0?[1-9]|1[0-2])(?:\2(\d\d?))?(?=[/&?.]|\Z)", re.ASCII)
_CALENDAR = re.compile(r"[/?&](?:calendars?|events?|agenda|schedule|date|day|week|month)[/=]")
_PADDED = 2


def _lift(host: str, name: str) -> str:
    """Say how a person overrules a detector (TRP-07)."""
    return f"geomi traps allow {host} {shlex.quote(name)}"


def _refuse(trap: str, url: Url, detail: str) -> Verdict:
    return Verdict(False, f"trap.{trap}", detail, _lift(url.host, f"trap.{trap}"))


def _query_trap(url: Url) -> Verdict | None:
    count = url.query.count("&") + 1
    if count <= MAX_PARAMETERS:
        return None
    return _refuse("many_parameters", url, f"{count}; the limit is {MAX_PARAMETERS}")


def _path_trap(url: Url) -> Verdict | None:
    names = url.path.split("/")
    # Three rounds of even one name leave two names fewer in the set.
    if len(names) - len(set(names)) < MAX_REPETITIONS and len(names) <= MAX_PATH_SEGMENTS:
        return None
    names = [name for name in names if name]
    block = _repeated_block(names[: 2 * MAX_PATH_SEGMENTS])
    if block:
        return _refuse("repeating_path", url, "/" + "/".join(block))
    if len(names) > MAX_PATH_SEGMENTS:
        detail = f"{len(names)} segments; the limit is {MAX_PATH_SEGMENTS}"
        return _refuse("deep_path", url, detail)
    return None


def _repeated_block(names: list[str]) -> list[str]:
    """Return the shortest block that follows itself more than `MAX_REPETITIONS` times."""
    for size in range(1, len(names) // (MAX_REPETITIONS + 1) + 1):
        same = 0
        for at in range(size, len(names)):
            same = same + 1 if names[at] == names[at - size] else 0
            if same == MAX_REPETITIONS * size:
                return names[at - size + 1 : at + 1]
    return []


def _date_trap(url: Url, now_year: int) -> Verdict | None:
    """Refuse a date in a year nobody writes about; `/rfc/2119/6` is no date."""
    found = _DATE.search(url.target)
    if found is None or FIRST_YEAR <= int(found[1]) <= now_year + YEARS_AHEAD:
        return None
    month, day = found[3], found[4] or ""
    is_padded_date = len(month) == len(day) == _PADDED
    if not is_padded_date and not _CALENDAR.search(url.target):
        return None
    return _refuse("calendar", url, f"year {found[1]}")
