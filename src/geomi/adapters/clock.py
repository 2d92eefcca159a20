"""Scheduling time for stores: it never runs backwards, whatever the wall clock does.

A store holds an anchor: a boot of the machine, a reading of its boot clock (which counts sleep
too), and the scheduling time at that reading. On the same boot, time is the anchor's plus what has
passed since, so that every process of the store shares one axis and a set clock changes nothing.
After another boot the anchor is laid anew at the wall clock, but not before the last response that
the store knows of. Where the machine has no boot clock, each process lays its own and nothing is
stored.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from geomi.adapters.ledger.anchor import Anchor

# A sleep is cut into parts: asyncio's timer stands still while the machine sleeps, ours does not.
LONGEST_SLEEP_S = 30.0

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


class AnchorKeeper(Protocol):
    """What a store has to remember for its clock."""

    def anchor(self) -> Anchor | None:
        """Return the anchor that holds, if any was laid."""
        ...

    def set_anchor(self, anchor: Anchor, *, instead_of: Anchor | None) -> Anchor:
        """Lay an anchor in place of the one that was read; return the one that holds."""
        ...

    def greatest_end_s(self) -> float:
        """Return the latest time at which any response is known to have ended."""
        ...


class TimeKeeper(Protocol):
    """A store whose server has a clock of its own."""

    def time_s(self) -> float:
        """Return the server's time of day."""
        ...

    def greatest_end_s(self) -> float:
        """Return the latest time at which any response is known to have ended."""
        ...


@dataclass(frozen=True, slots=True)
class Readings:
    """The machine's clocks; `boot_id` is empty where there is no boot clock."""

    boot_id: str
    passing_s: Callable[[], float]
    wall_s: Callable[[], float]


def system_readings() -> Readings:
    """Return this machine's clocks: the boot clock where there is one, else the monotonic one."""
    boot_clock = getattr(time, "CLOCK_BOOTTIME", None)
    if boot_clock is None or not _BOOT_ID.exists():
        return Readings("", time.monotonic, _wall_s)
    boot_id = _BOOT_ID.read_text("ascii").strip()
    return Readings(boot_id, lambda: time.clock_gettime(boot_clock), _wall_s)


def open_clock(store: AnchorKeeper, readings: Readings | None = None) -> SystemClock:
    """Return the clock that every process of a store shares."""
    readings = readings or system_readings()
    held = store.anchor()
    reading_s = readings.passing_s()
    # A reading before the anchor's is another boot clock under the same name (a moved container).
    if held and held.boot_id == readings.boot_id and held.reading_s <= reading_s:
        return SystemClock(held, readings)
    time_s = max(readings.wall_s(), store.greatest_end_s())
    anchor = Anchor(readings.boot_id, reading_s, time_s)
    if readings.boot_id:
        anchor = store.set_anchor(anchor, instead_of=held)
    return SystemClock(anchor, readings)


def open_shared_clock(store: TimeKeeper, readings: Readings | None = None) -> SystemClock:
    """Return a clock that goes by the server of a store, which machines with other clocks share.

    Each process ties its own clock to the server's time when it opens the store, so nothing has to
    be stored.
    """
    readings = readings or system_readings()
    time_s = max(store.time_s(), store.greatest_end_s())
    return SystemClock(Anchor("", readings.passing_s(), time_s), readings)


class SystemClock:
    """`ports.clock.Clock` of one process."""

    def __init__(self, anchor: Anchor, readings: Readings) -> None:
        self._anchor = anchor
        self._readings = readings

    def now_s(self) -> float:
        """Return scheduling time."""
        return self._anchor.time_s + self._readings.passing_s() - self._anchor.reading_s

    def wall_s(self) -> float:
        """Return the time of day."""
        return self._readings.wall_s()

    async def sleep_until(self, when_s: float) -> None:
        """Wait until scheduling time has reached `when_s`."""
        while (left_s := when_s - self.now_s()) > 0:  # noqa: ASYNC110  # nothing tells us the time
            await asyncio.sleep(min(left_s, LONGEST_SLEEP_S))


def _wall_s() -> float:
    return time.time()  # noqa: TID251  # the one place that reads the time of day
