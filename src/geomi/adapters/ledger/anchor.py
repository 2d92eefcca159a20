"""What ties a store's time to one machine's clock, for `adapters/machine/clock.py`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Anchor:
    """One moment on two axes: the boot clock of one boot, and scheduling time."""

    boot_id: str
    reading_s: float
    time_s: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """How far the time of a store is ahead of a clock, and its offset from the server's time."""

    ahead_s: float
    offset_s: float
