"""Whether the hosts of one address were asked at once no more than the jobs allow."""

from __future__ import annotations

from dataclasses import dataclass

from geomi.engine.audit.checks import Breach, Breaches, Rule
from geomi.engine.history import ROUNDING_S, History
from geomi.model.asked import Asked
from geomi.model.config import CrawlConfig


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

    def __init__(self, ip: str, history: History) -> None:
        self._ip = ip
        self._history = history
        self._hosts: set[str] = set()
        self._in_flight: dict[str, tuple[Asked, int]] = {}
        self._most_at_once = self._allowed = self._older = 0
        self._found = Breaches()

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
            self._accuse(
                f"{len(allowed)} hosts of `{self._ip}` at once, {max(allowed)} are allowed"
            )

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
            self._found.add(Rule.PER_ADDRESS, detail, *requests)
        else:
            self._older += 1
