"""Decide what the fetch of a robots.txt means, and for how long.

Rules kept:
- The answer has a file: its rules hold for the TTL or a shorter `max-age` (RFC 9309 §2.4, C-03).
- The file is above the limits: the part that was read holds (RFC 9309 §2.5), unless the job takes
  such a file as allowing everything (C-11).
- There is no file (4xx, redirects that lead nowhere): everything is allowed (RFC 9309 §2.3.1.3,
  C-10). A 429 counts as out of reach, unless the job says otherwise: the server asks for less
  traffic (C-02).
- The file is out of reach (5xx, 429, timeouts, network): the job's `on_unreachable` decides; by
  default nothing may be fetched (RFC 9309 §2.3.1.4, C-01).
- The last two hold for the shorter failure TTL (ROB-06).
- If a later fetch fails, the rules of the copy before stay in force: an outage changes nothing
  (C-01).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from geomi.model.config import OnOversize, OnUnreachable, RobotsRules
from geomi.model.robots import RobotsCopy
from geomi.model.verdict import Outcome

# A site that allows no caching at all is still not asked before every page.
MIN_TTL_S = 60.0
# seed 000 §5.1: go on, but no faster than this, where a robots.txt cannot be had.
CAUTIOUS_DELAY_S = 2.0


class PolicyKind(StrEnum):
    """Whether the file's own rules decide, or everything is decided at once."""

    RULES = "rules"
    ALLOW_ALL = "allow_all"
    DISALLOW_ALL = "disallow_all"


@dataclass(frozen=True, slots=True)
class RobotsPolicy:
    """What holds for a host until `expires_s`.

    Args:
        extra_delay_s: a floor for the delay of the host.
        is_temporary: whether the file is only out of reach, so that a URL may wait for it.
    """

    kind: PolicyKind
    reason: str
    expires_s: float
    extra_delay_s: float = 0.0
    is_temporary: bool = False


def decide(
    copy: RobotsCopy, rules: RobotsRules, *, now_s: float, was_cut: bool = False
) -> RobotsPolicy:
    """Decide what a copy means under a job's rules.

    Args:
        was_cut: whether its file is above the limits.
    """
    expires_s = _expires_s(copy, rules)
    if not rules.respect:
        return RobotsPolicy(PolicyKind.ALLOW_ALL, "this job does not read robots.txt", expires_s)
    standing = _standing(copy, rules)
    if standing is _Standing.FILE:
        if rules.on_oversize is OnOversize.ALLOW and (was_cut or copy.failure is not None):
            return RobotsPolicy(PolicyKind.ALLOW_ALL, _too_much(rules), expires_s)
        return RobotsPolicy(PolicyKind.RULES, _aged(copy, now_s=now_s), expires_s)
    if standing is _Standing.NO_FILE:
        return RobotsPolicy(PolicyKind.ALLOW_ALL, f"no robots.txt: {_fact(copy)}", expires_s)
    return _unreachable(copy, rules, expires_s)


def is_fresh(copy: RobotsCopy, rules: RobotsRules, *, now_s: float) -> bool:
    """Return whether a copy may be used without asking again."""
    return now_s < _expires_s(copy, rules)


def is_answer(copy: RobotsCopy, rules: RobotsRules) -> bool:
    """Return whether the server has answered with a file, or that there is none."""
    return _standing(copy, rules) is not _Standing.OUT_OF_REACH


def choose(
    previous: RobotsCopy | None, latest: RobotsCopy, rules: RobotsRules, *, now_s: float
) -> RobotsCopy:
    """Pick the copy to keep after a refetch: the latest, unless it failed and rules are known.

    The kept one counts as fetched now, with the failure TTL as its age, so that the host is asked
    again soon but not at every page.
    """
    if previous is None or is_answer(latest, rules):
        return latest
    if _standing(previous, rules) is not _Standing.FILE:
        return latest
    detail = f"an older copy is kept: {_fact(latest)}"
    return replace(previous, fetched_s=now_s, max_age_s=rules.fail_ttl_s, detail=detail)


def max_age_s(cache_control: str) -> float | None:
    """Read from a Cache-Control header how long a response may be kept; None if it does not say."""
    ages: list[float] = []
    for part in cache_control.lower().split(","):
        name, _, value = part.strip().partition("=")
        seconds = value.strip().strip('"')
        if name in ("no-store", "no-cache"):
            ages.append(0.0)
        elif name == "max-age" and seconds.isascii() and seconds.isdigit():
            ages.append(float(seconds[:_MAX_AGE_DIGITS]))
    return min(ages, default=None)


_MAX_AGE_DIGITS = 12  # thirty thousand years; the TTL is the real bound


class _Standing(StrEnum):
    FILE = "file"
    NO_FILE = "no_file"
    OUT_OF_REACH = "out_of_reach"


# Failures that are an answer all the same: there is no file for us.
_NO_FILE = frozenset(
    {
        Outcome.TOO_MANY_REDIRECTS,
        Outcome.REDIRECT_EXCLUDED,
        Outcome.GONE,
        Outcome.REFUSED,
        Outcome.CLIENT_ERROR,
    }
)


def _standing(copy: RobotsCopy, rules: RobotsRules) -> _Standing:
    if copy.failure is Outcome.TOO_LARGE and copy.body:
        return _Standing.FILE  # C-11: what was read is obeyed
    if copy.failure is not None:
        return _Standing.NO_FILE if copy.failure in _NO_FILE else _Standing.OUT_OF_REACH
    if 200 <= copy.status < 300:
        return _Standing.FILE
    if 300 <= copy.status < 500 and (copy.status != 429 or rules.allow_on_429):
        return _Standing.NO_FILE
    return _Standing.OUT_OF_REACH


def _expires_s(copy: RobotsCopy, rules: RobotsRules) -> float:
    if _standing(copy, rules) is not _Standing.FILE:
        return copy.fetched_s + rules.fail_ttl_s
    if copy.max_age_s is None:
        return copy.fetched_s + rules.ttl_s
    return copy.fetched_s + min(rules.ttl_s, max(copy.max_age_s, MIN_TTL_S))


def _unreachable(copy: RobotsCopy, rules: RobotsRules, expires_s: float) -> RobotsPolicy:
    fact = f"robots.txt is out of reach: {_fact(copy)}"
    is_open = rules.on_unreachable in (OnUnreachable.ALLOW, OnUnreachable.ALLOW_WITH_DELAY)
    is_cautious = rules.on_unreachable is OnUnreachable.ALLOW_WITH_DELAY
    return RobotsPolicy(
        PolicyKind.ALLOW_ALL if is_open else PolicyKind.DISALLOW_ALL,
        fact,
        expires_s,
        extra_delay_s=CAUTIOUS_DELAY_S if is_cautious else 0.0,
        # Who only records facts has one already; no URL waits for a better one.
        is_temporary=rules.on_unreachable is not OnUnreachable.RECORD,
    )


def _too_much(rules: RobotsRules) -> str:
    rule_limit = f" or {rules.max_rules} rules" if rules.max_rules else ""
    return f"robots.txt is above {rules.max_bytes} bytes{rule_limit} and is not obeyed"


def _aged(copy: RobotsCopy, *, now_s: float) -> str:
    age_s = max(0, round(now_s - copy.fetched_s))
    return f"robots.txt fetched {age_s} s ago" + (f"; {copy.detail}" if copy.detail else "")


def _fact(copy: RobotsCopy) -> str:
    fact = f"HTTP status {copy.status}" if copy.failure is None else copy.failure.value
    return f"{fact} ({copy.detail})" if copy.detail else fact
