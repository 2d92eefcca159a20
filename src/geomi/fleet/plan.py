"""What a fleet is asked to be, what it is, and how many workers its work is worth."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from geomi.settings.options import Settings

# A worker fetches some hundred pages a second where hosts allow it, and some ten where few do:
# this many URLs keep it busy for half a minute to some minutes.
URLS_PER_WORKER = 2000
# How long less work has to last before a worker is sent home, which costs it a minute to come back.
STEADY_S = 60.0
NODE = "{node}"


@dataclass(frozen=True, slots=True)
class FleetPlan:
    """What `geomi fleet up` asks for.

    Args:
        root: the data directory on each node; `{node}` in it becomes the node's name.
        least: how many workers there are without any work, and `most` with any amount of it.
        cpus: what each worker takes of its node.
        look_s: how often the keeper looks.
    """

    root: str
    settings: Settings
    least: int
    most: int
    urls_per_worker: int = URLS_PER_WORKER
    concurrency: int = 32
    cpus: float = 1.0
    look_s: float = 5.0


class MemberState(StrEnum):
    """How a worker of a fleet stands."""

    WORKING = "working"
    DRAINING = "draining"
    ENDED = "ended"
    AWAY = "away"  # being started, or started again elsewhere


@dataclass(frozen=True, slots=True)
class Member:
    """One worker of a fleet; `owner` is its name in the store."""

    name: str
    state: MemberState
    node: str = ""
    owner: str = ""
    pid: int = 0
    error: str = ""


@dataclass(frozen=True, slots=True)
class FleetStatus:
    """A fleet as its keeper sees it.

    Args:
        wanted: how many workers there are to be.
        waiting: URLs that wait in the jobs of the store; None before the first look.
    """

    least: int
    most: int
    wanted: int
    waiting: int | None
    is_ending: bool
    members: tuple[Member, ...]


def worth(plan: FleetPlan, waiting: int) -> int:
    """Return how many workers so many waiting URLs are worth."""
    return max(plan.least, min(plan.most, math.ceil(waiting / plan.urls_per_worker)))


class Damper:
    """Lets a fleet grow at once and shrink only when it had too many workers for a while."""

    def __init__(self, steady_s: float = STEADY_S) -> None:
        self._steady_s = steady_s
        self._wanted = 0
        self._less_since_s: float | None = None
        self._most_of_late = 0

    def settle(self, worth: int, *, now_s: float) -> int:
        """Return how many workers there are to be, given what the work is worth now."""
        if worth >= self._wanted:
            self._wanted, self._less_since_s = worth, None
            return self._wanted
        if self._less_since_s is None:
            self._less_since_s, self._most_of_late = now_s, worth
        self._most_of_late = max(self._most_of_late, worth)
        if now_s - self._less_since_s >= self._steady_s:
            self._wanted, self._less_since_s = self._most_of_late, None
        return self._wanted
