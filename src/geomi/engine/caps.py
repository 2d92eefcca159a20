"""Whether the requests of a log stayed below the caps of an hour and a day (POL-03, C-30).

Counted is what permits are taken for: requests of jobs that have any cap, for hour and day alike.
Whether a job had one before its present settings is not known. Requests from then are counted as
long as there is room for all; where there is not, they are left out and nobody is accused of them.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from dataclasses import dataclass, replace

from geomi.model.asked import Asked
from geomi.model.config import Politeness

HOUR_S, DAY_S = 3600.0, 86_400.0
# A permit is taken just before its request begins, so a window of permits is a little askew.
ASKEW_S = 1.0


@dataclass(frozen=True, slots=True)
class CapProof:
    """The fullest window that any cap looked at; `allowed` is the cap of the request at its end.

    Args:
        broken: how many requests came when their window was full.
        first_s: when the first of them started; None where none did.
        older: requests that were sent under earlier settings and are left out.
    """

    window: str
    most: int
    allowed: int
    broken: int
    first_s: float | None
    older: int = 0


class CapCheck:
    """Gathers when requests under a cap started, 13 bytes each, whatever host they went to."""

    def __init__(self) -> None:
        self._starts_s = array("d")
        self._terms = array("I")
        self._is_present = array("b")
        self._known: dict[tuple[int, int], int] = {}

    def add(self, asked: Asked, own: Politeness, *, is_present: bool) -> None:
        """Take a request; the order does not matter.

        Args:
            is_present: whether these settings held already.
        """
        caps = (own.max_per_hour, own.max_per_day)
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
        """Look at the window that ends with each request whose job has a cap on it."""
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
        return CapProof(name, most, allowed, broken, first_s)
