"""Check the log against rules that cover many hosts: one address, an hour, a day.

`Breach` names a broken rule and the requests that show it. `AddressCheck` counts how many hosts of
one address were asked at once. `CapCheck` counts requests against the caps of an hour and a day
(POL-03, C-30), for jobs that have a cap. Whether a job had a cap before its present settings is
not known. Those requests are counted while there is room for all; otherwise they are left out, and
nobody is accused of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from geomi.engine.history import ROUNDING_S
from geomi.model.asked import Asked
from geomi.url.parse import parse as parse_url

MAX_EXAMPLES = 10  # breaches of a host or an address that are shown; all are counted


class Rule(StrEnum):
    """What can be broken; a row that cannot be true proves nothing, so it counts too."""

    GAP = "gap"
    AT_ONCE = "at_once"
    PER_ADDRESS = "per_address"
    ROBOTS = "robots"
    CAP = "cap"
    DAMAGED = "damaged_row"


@dataclass(frozen=True, slots=True)
class Breach:
    """A rule that was broken, and the requests that show it; the last is the one at fault."""

    rule: Rule
    detail: str
    requests: tuple[Asked, ...]


class Breaches:
    """Counts breaches and keeps the first few."""

    def __init__(self) -> None:
        self.count = 0
        self.examples: list[Breach] = []

    def add(self, rule: Rule, detail: str, *requests: Asked) -> None:
        """Take one."""
        self.count += 1
        if len(self.examples) < MAX_EXAMPLES:
            self.examples.append(Breach(rule, detail, requests))

    def join(self, other: Breaches) -> None:
        """Take all of another."""
        self.count += other.count
        self.examples.extend(other.examples[: MAX_EXAMPLES - len(self.examples)])


def damage(asked: Asked) -> str:
    """Return why a row of the log cannot be true; empty where it can."""
    times_s = (asked.started_s, asked.ended_s, asked.floor_s, asked.robots_at_s or 0.0)
    if not all(map(math.isfinite, times_s)):
        return "its times are endless"
    if asked.ended_s < asked.started_s - ROUNDING_S:
        return "it ended before it began"
    if asked.floor_s < 0:
        return "the rest that it owed is below zero"
    if asked.is_erased:
        return ""
    url = parse_url(asked.url)
    if url is None or url.authority != asked.host:
        return f"its URL is none of `{asked.host}`"
    return ""
