"""Check the log against rules that cover many hosts: one address, an hour, a day.

`Breach` names a broken rule and the requests that show it. `AddressCheck` counts how many hosts of
one address were asked at once. `CapCheck` counts requests against the caps of an hour and a day
(POL-03, C-30), for jobs that have a cap. It is unknown whether a job had a cap before its present
settings. If all those requests fit under the cap, they count; otherwise they are left out, and the
audit reports no breach about them.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from dataclasses import dataclass, replace

from geomi.engine.audit.invariants import ROUNDING_S, Invariant, crowded
from geomi.engine.audit.terms import RunHistory
from geomi.model.config import CrawlConfig, Politeness
from geomi.model.request_log import SentRequest

MAX_EXAMPLES = 10  # breaches of a host or an address that are shown; all are counted
HOUR_S, DAY_S = 3600.0, 86_400.0
# A permit is taken just before its request begins, so a window of permits is a little askew.
ASKEW_S = 1.0


@dataclass(frozen=True, slots=True)
class Breach:
    """A rule that was broken, and the requests that show it; the last is the one at fault."""

    rule: Invariant
    detail: str
    requests: tuple[SentRequest, ...]


class Breaches:
    """Counts breaches and keeps the first few."""

    def __init__(self) -> None:
        self.count = 0
        self.examples: list[Breach] = []

    def add(self, rule: Invariant, detail: str, *requests: SentRequest) -> None:
        """Take one."""
        self.count += 1
        if len(self.examples) < MAX_EXAMPLES:
            self.examples.append(Breach(rule, detail, requests))

    def join(self, other: Breaches) -> None:
        """Take all of another."""
        self.count += other.count
        self.examples.extend(other.examples[: MAX_EXAMPLES - len(self.examples)])


@dataclass(frozen=True, slots=True)
class CapProof:
    """The fullest window that any cap looked at; `allowed` is the cap of the request at its end.

    Args:
        broken: how many requests came when their window was full.
        first_s: when the first of them started; None where none did.
        older: requests that were sent under earlier settings and are left out.
        domain: whose requests were counted; empty for all together.
    """

    window: str
    most: int
    allowed: int
    broken: int
    first_s: float | None
    older: int = 0
    domain: str = ""


class CapCheck:
    """Gathers when requests under a cap started, 13 bytes each, to one domain or to any."""

    def __init__(self, domain: str = "") -> None:
        self._domain = domain
        self._starts_s = array("d")
        self._terms = array("I")
        self._is_present = array("b")
        self._known: dict[tuple[int, int], int] = {}

    def add(self, asked: SentRequest, own: Politeness, *, is_present: bool) -> None:
        """Take a request; the order does not matter.

        Args:
            is_present: whether these settings held already.
        """
        caps = (own.max_per_hour, own.max_per_day)
        if self._domain:
            caps = (own.max_per_domain_hour, own.max_per_domain_day)
        if any(caps):
            self._starts_s.append(asked.started_s)
            self._terms.append(self._known.setdefault(caps, len(self._known)))
            self._is_present.append(is_present)

    def proofs(self) -> tuple[CapProof, ...]:
        """Say how full the fullest hour and day were, where there was a cap."""
        caps = list(self._known)
        order = sorted(range(len(self._starts_s)), key=self._starts_s.__getitem__)
        hour = self._proof("hour", HOUR_S, order, lambda term: caps[term][0])
        day = self._proof("day", DAY_S, order, lambda term: caps[term][1])
        return tuple(proof for proof in (hour, day) if proof.allowed)

    def _proof(
        self, name: str, length_s: float, order: list[int], cap_of: Callable[[int], int]
    ) -> CapProof:
        proof = self._fullest(name, length_s, order, cap_of)
        if not proof.broken:
            return proof
        present = [each for each in order if self._is_present[each]]
        proof = self._fullest(name, length_s, present, cap_of)
        return replace(proof, older=len(order) - len(present))

    def _fullest(
        self, name: str, length_s: float, counted: list[int], cap_of: Callable[[int], int]
    ) -> CapProof:
        """Count the window that ends with each request whose job has a cap on it."""
        most = allowed = broken = oldest = 0
        first_s = None
        for newest, each in enumerate(counted):
            start_s, cap = self._starts_s[each], cap_of(self._terms[each])
            while self._starts_s[counted[oldest]] <= start_s - length_s + ASKEW_S:
                oldest += 1
            many = newest - oldest + 1
            if cap and many > most:
                most, allowed = many, cap
            if cap and many > cap:
                broken += 1
                first_s = start_s if first_s is None else first_s
        return CapProof(name, most, allowed, broken, first_s, domain=self._domain)


@dataclass(frozen=True, slots=True)
class AddressProof:
    """How many hosts of one address were asked at once; `allowed` is what the jobs have now.

    Args:
        older: how often it was more than settings of today allow, before they held.
    """

    ip: str
    hosts: int
    most_at_once: int
    allowed: int
    older: int
    broken: int
    breaches: tuple[Breach, ...]


class AddressCheck:
    """Reads the requests of one address."""

    def __init__(self, ip: str, history: RunHistory) -> None:
        self._ip = ip
        self._history = history
        self._hosts: set[str] = set()
        self._in_flight: dict[str, tuple[SentRequest, int]] = {}
        self._most_at_once = self._allowed = self._older = 0
        self._found = Breaches()

    def add(self, asked: SentRequest, config: CrawlConfig | None) -> None:
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
        if 0 not in allowed:
            for detail in crowded(self._ip, len(allowed), max(allowed)):
                self._accuse(detail)

    def proof(self) -> AddressProof:
        """Say what was found."""
        return AddressProof(
            ip=self._ip,
            hosts=len(self._hosts),
            most_at_once=self._most_at_once,
            allowed=self._allowed,
            older=self._older,
            broken=self._found.count,
            breaches=tuple(self._found.examples),
        )

    def _accuse(self, detail: str) -> None:
        requests = [one for one, _ in self._in_flight.values()]
        if all(map(self._history.is_present, requests)):
            self._found.add(Invariant.PER_ADDRESS, detail, *requests)
        else:
            self._older += 1
