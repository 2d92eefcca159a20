"""What the requests of a log prove, and where they show that a rule was broken: host by host.

Each check takes requests in the order of their starts and remembers only what the next one needs,
so that a log of any length is read in bounded memory.

- A host rests after each request: as long as the log says that it was owed, and as long as the
  settings of its jobs and the stored robots.txt ask for today, where they held then too.
- A host has one request in flight; the hosts of one address no more than the profile allows.
- Whatever is asked for, robots.txt aside, rests on a robots.txt that was fetched before, had not
  run out, and allows it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from geomi.engine.terms import Terms, forbidden
from geomi.model.asked import Asked, Purpose
from geomi.model.config import CrawlConfig

# Two processes may read their clocks so far apart, and sums of seconds since 1970 are rounded.
ROUNDING_S = 0.001
MAX_EXAMPLES = 10  # breaches of a host or an address that are shown; all are counted

Owners = Mapping[str, str]  # the newest worker of each job


class Rule(StrEnum):
    """What can be broken."""

    GAP = "gap"
    AT_ONCE = "at_once"
    PER_ADDRESS = "per_address"
    ROBOTS = "robots"
    CAP = "cap"


@dataclass(frozen=True, slots=True)
class Breach:
    """A rule that was broken, and the requests that show it; the last is the one at fault."""

    rule: Rule
    detail: str
    requests: tuple[Asked, ...]


@dataclass(frozen=True, slots=True)
class HostProof:
    """What the requests of one host show.

    Args:
        least_gap_s: the shortest rest, and `owed_s` what was owed there; None below two requests.
        robots: how often its robots.txt was asked for.
        judged: requests that the stored robots.txt allows, asked once more.
        unread: requests of jobs that ignore robots.txt.
        unknown: requests of jobs that are deleted, or another tenant's: only the log speaks.
        older: gaps that settings of today would not allow, from before they were changed.
        broken: breaches in all; some are given as examples.
    """

    host: str
    requests: int
    least_gap_s: float | None
    owed_s: float
    most_at_once: int
    robots: int
    judged: int
    unread: int
    unknown: int
    older: int
    broken: int
    breaches: tuple[Breach, ...]


class HostCheck:
    """Reads the requests of one host."""

    def __init__(self, host: str) -> None:
        self._host = host
        self._requests = self._most_at_once = self._robots = 0
        self._judged = self._unread = self._unknown = 0
        self._least_gap_s, self._owed_s = math.inf, 0.0
        self._in_flight: list[Asked] = []
        self._last: Asked | None = None  # the one that ended last
        self._over_s = -math.inf  # when no rest of the jobs' own is owed any more
        self._found = _Breaches()
        self._doubts: dict[tuple[str, ...], _Breaches] = {}

    def add(self, asked: Asked, terms: Terms | None) -> None:
        """Take the next request."""
        self._requests += 1
        self._unknown += terms is None
        self._check_rest(asked, terms)
        if asked.purpose is Purpose.ROBOTS:
            self._robots += 1
        elif terms is not None:
            self._check_robots(asked, terms)
        self._remember(asked, terms)

    @property
    def has_doubts(self) -> bool:
        """Whether what was found depends on which workers are the newest."""
        return bool(self._doubts)

    def proof(self, newest: Owners) -> HostProof:
        """Say what was found; a gap that only the settings forbid counts for the newest workers."""
        older = 0
        for _, doubts in sorted(self._doubts.items()):
            if all(newest.get(one.job) == one.owner for one in doubts.examples[0].requests):
                self._found.join(doubts)
            else:
                older += doubts.count
        return HostProof(
            host=self._host,
            requests=self._requests,
            least_gap_s=None if math.isinf(self._least_gap_s) else self._least_gap_s,
            owed_s=self._owed_s,
            most_at_once=self._most_at_once,
            robots=self._robots,
            judged=self._judged,
            unread=self._unread,
            unknown=self._unknown,
            older=older,
            broken=self._found.count,
            breaches=tuple(self._found.examples),
        )

    def _check_rest(self, asked: Asked, terms: Terms | None) -> None:
        last = self._last
        self._in_flight = [one for one in self._in_flight if one.ended_s > asked.started_s]
        self._most_at_once = max(self._most_at_once, len(self._in_flight) + 1)
        if last is None:
            return
        gap_s = asked.started_s - last.ended_s
        if gap_s < self._least_gap_s:
            self._least_gap_s, self._owed_s = gap_s, asked.floor_s
        if gap_s < -ROUNDING_S:
            self._found.add(Rule.AT_ONCE, "the one before had not ended", last, asked)
        elif gap_s < asked.floor_s - ROUNDING_S:
            owed = f"{asked.floor_s:.3f} s were owed, {gap_s:.3f} s were kept"
            self._found.add(Rule.GAP, owed, last, asked)
        elif terms is not None and (missing_s := self._missing_s(asked, terms)) > ROUNDING_S:
            owed = f"settings or robots.txt ask for {gap_s + missing_s:.3f} s"
            key = (last.job, last.owner, asked.job, asked.owner)
            doubts = self._doubts.setdefault(key, _Breaches(most=1))
            doubts.add(Rule.GAP, f"{owed}, {gap_s:.3f} s were kept", last, asked)

    def _missing_s(self, asked: Asked, terms: Terms) -> float:
        """Return how much the rest falls short of what jobs and robots.txt ask for today."""
        assert self._last is not None
        own_s = 0.0 if terms.credit_s else terms.least_s(asked)
        owed_s = max(own_s, terms.firm_s(asked))
        earliest_s = max(self._last.ended_s + owed_s, self._over_s - terms.credit_s)
        return earliest_s - asked.started_s

    def _check_robots(self, asked: Asked, terms: Terms) -> None:
        if not terms.config.robots.respect:
            self._unread += 1
        elif detail := self._unlawful(asked, terms):
            self._found.add(Rule.ROBOTS, detail, asked)

    def _unlawful(self, asked: Asked, terms: Terms) -> str:
        """Return what is wrong with the robots.txt that a request rests on."""
        if asked.robots_at_s is None:
            return "" if self._robots else "no robots.txt was read before it"
        if asked.robots_at_s > asked.started_s + ROUNDING_S:
            return "its robots.txt was fetched after it"
        if (expired_s := terms.expired_s(asked)) > 0:
            return f"its robots.txt had run out {expired_s:.0f} s before"
        if terms.reading is None:
            return ""
        if line := forbidden(terms.reading, asked):
            return f"robots.txt forbids it: {line}"
        self._judged += 1
        return ""

    def _remember(self, asked: Asked, terms: Terms | None) -> None:
        self._in_flight.append(asked)
        if self._last is None or asked.ended_s >= self._last.ended_s:
            self._last = asked
        least_s = terms.least_s(asked) if terms is not None else 0.0
        credit_s = terms.credit_s if terms is not None else 0.0
        # What came too early is told once: the next is measured from there.
        owing_s = min(self._over_s, asked.started_s + credit_s)
        self._over_s = max(owing_s, asked.ended_s) + least_s


@dataclass(frozen=True, slots=True)
class AddressProof:
    """How many hosts of one address were asked at once; `allowed` is what the jobs then had."""

    ip: str
    hosts: int
    most_at_once: int
    allowed: int
    broken: int
    breaches: tuple[Breach, ...]


class AddressCheck:
    """Reads the requests of one address."""

    def __init__(self, ip: str) -> None:
        self._ip = ip
        self._hosts: set[str] = set()
        self._in_flight: dict[str, tuple[Asked, int]] = {}
        self._most_at_once = self._allowed = 0
        self._found = _Breaches()

    def add(self, asked: Asked, config: CrawlConfig | None) -> None:
        """Take the next request; where several jobs ask, the one that allows most decides."""
        self._hosts.add(asked.host)
        self._in_flight = {
            host: (one, allowed)
            for host, (one, allowed) in self._in_flight.items()
            if one.ended_s > asked.started_s + ROUNDING_S
        }
        per_ip = config.politeness.per_ip if config is not None else 0
        self._in_flight[asked.host] = (asked, per_ip)
        allowed = [allowed for _, allowed in self._in_flight.values()]
        if len(allowed) > self._most_at_once:
            self._most_at_once, self._allowed = len(allowed), max(allowed)
        if 0 not in allowed and len(allowed) > max(allowed):
            detail = f"{len(allowed)} hosts of `{self._ip}` at once, {max(allowed)} are allowed"
            requests = tuple(one for one, _ in self._in_flight.values())
            self._found.add(Rule.PER_ADDRESS, detail, *requests)

    def proof(self) -> AddressProof:
        """Say what was found."""
        return AddressProof(
            ip=self._ip,
            hosts=len(self._hosts),
            most_at_once=self._most_at_once,
            allowed=self._allowed,
            broken=self._found.count,
            breaches=tuple(self._found.examples),
        )


class _Breaches:
    """Counts breaches and keeps the first few."""

    def __init__(self, most: int = MAX_EXAMPLES) -> None:
        self.count = 0
        self.examples: list[Breach] = []
        self._most = most

    def add(self, rule: Rule, detail: str, *requests: Asked) -> None:
        self.count += 1
        if len(self.examples) < self._most:
            self.examples.append(Breach(rule, detail, requests))

    def join(self, other: _Breaches) -> None:
        self.count += other.count
        self.examples.extend(other.examples[: self._most - len(self.examples)])
