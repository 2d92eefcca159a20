"""Replay the requests of one host, and show where a rule was broken.

A check takes requests in the order of their starts and remembers only what the next one needs. So
a log of any length is read in bounded memory.

- A host rests after each request, as long as the log says. It also rests as long as the present
  settings and the stored robots.txt require, if they held at that time.
- A host has one request in flight.
- Every request but that for robots.txt rests on a robots.txt that was fetched before, had not
  expired, and allows it. Only a redirect gives a robots.txt another path.
- If the page of a request was erased, only the times of the request are judged.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from geomi.engine.audit.checks import Breach, Breaches
from geomi.engine.audit.invariants import ROUNDING_S, Invariant, too_close
from geomi.engine.audit.terms import RequestTerms, RunHistory, forbidden
from geomi.engine.host.robots import PATH
from geomi.model.request_log import RequestPurpose, SentRequest
from geomi.url.parse import parse as parse_url


@dataclass(frozen=True, slots=True)
class HostProof:
    """The proof of one host's requests.

    Args:
        least_gap_s: the shortest rest, and `owed_s` what was owed there; None below two requests.
        robots: how often its robots.txt was asked for.
        unlogged: requests that rest on a robots.txt whose own request is not in the log, but which
            is stored or was fetched anew later.
        judged: requests that the stored robots.txt allows, asked once more.
        unread: requests of jobs that ignore robots.txt.
        unknown: requests of jobs that are deleted: only the log speaks.
        erased: requests whose URLs went with their pages: no robots.txt can be asked about them.
        older: requests that settings of today would not allow, from before they held.
        broken: breaches in all; some are given as examples.
    """

    host: str
    requests: int
    least_gap_s: float | None
    owed_s: float
    most_at_once: int
    robots: int
    unlogged: int
    judged: int
    unread: int
    unknown: int
    erased: int
    older: int
    broken: int
    breaches: tuple[Breach, ...]


class HostCheck:
    """Reads the requests of one host."""

    def __init__(self, host: str, history: RunHistory) -> None:
        self._host = host
        self._history = history
        self._requests = self._most_at_once = self._robots = self._unlogged = 0
        self._judged = self._unread = self._unknown = self._erased = self._older = 0
        self._least_gap_s, self._owed_s = math.inf, 0.0
        self._in_flight: list[SentRequest] = []
        self._last: SentRequest | None = None  # the one that ended last
        self._over_s = -math.inf  # when no rest of the jobs' own is owed any more
        self._found = Breaches()
        self._baseless = Breaches()  # unless a later robots.txt explains what became of theirs

    def refuse(self, asked: SentRequest, detail: str) -> None:
        """Take a row that cannot be true; nothing else is concluded from it."""
        self._requests += 1
        self._found.add(Invariant.DAMAGED, detail, asked)

    def add(self, asked: SentRequest, terms: RequestTerms | None) -> None:
        """Take the next request."""
        self._requests += 1
        self._unknown += terms is None
        self._erased += asked.is_erased
        keeps_today = self._check_rest(asked, terms)
        if asked.purpose is RequestPurpose.ROBOTS:
            self._check_fetch(asked)
        elif terms is not None:
            keeps_today &= self._check_robots(asked, terms)
        self._older += not keeps_today
        self._remember(asked, terms)

    def proof(self) -> HostProof:
        """Say what was found."""
        unlogged = self._unlogged
        if self._robots:
            unlogged += self._baseless.count
        else:
            self._found.join(self._baseless)
        return HostProof(
            host=self._host,
            requests=self._requests,
            least_gap_s=None if math.isinf(self._least_gap_s) else self._least_gap_s,
            owed_s=self._owed_s,
            most_at_once=self._most_at_once,
            robots=self._robots,
            unlogged=unlogged,
            judged=self._judged,
            unread=self._unread,
            unknown=self._unknown,
            erased=self._erased,
            older=self._older,
            broken=self._found.count,
            breaches=tuple(self._found.examples),
        )

    def _check_rest(self, asked: SentRequest, terms: RequestTerms | None) -> bool:
        """Say whether a rest that the log calls long enough was that by settings of today too."""
        last = self._last
        self._in_flight = [one for one in self._in_flight if one.ended_s > asked.started_s]
        self._most_at_once = max(self._most_at_once, len(self._in_flight) + 1)
        if last is None:
            return True
        gap_s = asked.started_s - last.ended_s
        if gap_s < self._least_gap_s:
            self._least_gap_s, self._owed_s = gap_s, asked.floor_s
        if found := too_close(gap_s, asked.floor_s):
            self._found.add(*found, last, asked)
        elif terms is not None and (missing_s := self._missing_s(asked, terms)) > ROUNDING_S:
            owed = f"settings or robots.txt require {gap_s + missing_s:.3f} s"
            return self._accuse(Invariant.GAP, f"{owed}, {gap_s:.3f} s were kept", last, asked)
        return True

    def _missing_s(self, asked: SentRequest, terms: RequestTerms) -> float:
        """Return how much the rest falls short of what jobs and robots.txt ask for today."""
        assert self._last is not None
        own_s = 0.0 if terms.credit_s else terms.least_s(asked)
        owed_s = max(own_s, terms.firm_s(asked))
        earliest_s = max(self._last.ended_s + owed_s, self._over_s - terms.credit_s)
        return earliest_s - asked.started_s

    def _check_fetch(self, asked: SentRequest) -> None:
        url = parse_url(asked.url)
        if url is not None and url.target == PATH:
            self._robots += 1
        elif not (asked.is_erased or self._history.is_followed(asked)):
            detail = "logged as one for robots.txt, but it is not, and no redirect led to it"
            self._found.add(Invariant.ROBOTS, detail, asked)

    def _check_robots(self, asked: SentRequest, terms: RequestTerms) -> bool:
        """Return whether settings of today agree with the robots.txt that a request rests on."""
        if not terms.config.robots.respect:
            self._unread += 1
            return True
        if asked.robots_at_s is not None and asked.robots_at_s > asked.started_s + ROUNDING_S:
            self._found.add(Invariant.ROBOTS, "its robots.txt was fetched after it", asked)
            return True
        if detail := _unlawful(asked, terms):
            return self._accuse(Invariant.ROBOTS, detail, asked)
        if not asked.is_erased:
            self._judged += terms.reading is not None
            self._check_base(asked, terms)
        return True

    def _check_base(self, asked: SentRequest, terms: RequestTerms) -> None:
        """Look for the fetch of a robots.txt, in the log or by the time of the stored copy.

        A killed worker takes the row along but not the copy, which is replaced when it runs out.
        """
        if self._robots:
            return
        if terms.reading is not None:
            self._unlogged += 1
        else:
            self._baseless.add(Invariant.ROBOTS, "its robots.txt was never fetched", asked)

    def _accuse(self, rule: Invariant, detail: str, *requests: SentRequest) -> bool:
        """Hold requests against settings of today; False where they did not hold yet."""
        is_present = all(map(self._history.is_present, requests))
        if is_present:
            self._found.add(rule, detail, *requests)
        return is_present

    def _remember(self, asked: SentRequest, terms: RequestTerms | None) -> None:
        self._in_flight.append(asked)
        if self._last is None or asked.ended_s >= self._last.ended_s:
            self._last = asked
        least_s = terms.least_s(asked) if terms is not None else 0.0
        credit_s = terms.credit_s if terms is not None else 0.0
        # What came too early is told once: the next is measured from there.
        owing_s = min(self._over_s, asked.started_s + credit_s)
        self._over_s = max(owing_s, asked.ended_s) + least_s


def _unlawful(asked: SentRequest, terms: RequestTerms) -> str:
    """Return what settings of today say against the robots.txt that a request rests on."""
    if asked.robots_at_s is None:
        return "no robots.txt was read before it"
    if (expired_s := terms.expired_s(asked)) > 0:
        return f"its robots.txt had expired {expired_s:.0f} s before"
    if terms.reading is not None and (line := forbidden(terms.reading, asked)):
        return f"robots.txt forbids it: {line}"
    return ""
