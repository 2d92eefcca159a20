"""Whether the requests of a log stayed below the caps of an hour and a day (POL-03, C-30)."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from dataclasses import dataclass

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
    """

    window: str
    most: int
    allowed: int
    broken: int
    first_s: float | None


class CapCheck:
    """Gathers when requests under a cap started, twelve bytes each, whatever host they went to."""

    def __init__(self) -> None:
        self._starts_s = array("d")
        self._terms = array("I")
        self._known: dict[tuple[int, int], int] = {}

    def add(self, asked: Asked, own: Politeness) -> None:
        """Take a request; the order does not matter."""
        caps = (own.max_per_hour, own.max_per_day)
        if any(caps):
            self._starts_s.append(asked.started_s)
            self._terms.append(self._known.setdefault(caps, len(self._known)))

    def proofs(self) -> tuple[CapProof, ...]:
        """Say how full the fullest hour and day were, where there was a cap."""
        caps = list(self._known)
        order = sorted(range(len(self._starts_s)), key=self._starts_s.__getitem__)
        hour = self._window("hour", HOUR_S, order, lambda term: caps[term][0])
        day = self._window("day", DAY_S, order, lambda term: caps[term][1])
        return tuple(proof for proof in (hour, day) if proof is not None)

    def _window(
        self, name: str, length_s: float, order: list[int], cap_of: Callable[[int], int]
    ) -> CapProof | None:
        counted = [each for each in order if cap_of(self._terms[each])]
        if not counted:
            return None
        most = allowed = broken = oldest = 0
        first_s = None
        for newest, each in enumerate(counted):
            start_s, cap = self._starts_s[each], cap_of(self._terms[each])
            while self._starts_s[counted[oldest]] <= start_s - length_s + ASKEW_S:
                oldest += 1
            many = newest - oldest + 1
            if many > most:
                most, allowed = many, cap
            if many > cap:
                broken += 1
                first_s = start_s if first_s is None else first_s
        return CapProof(name, most, allowed, broken, first_s)
