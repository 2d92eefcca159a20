"""Scheduling time for stores: it never runs backwards, whatever the wall clock does.

A store holds an anchor: a boot of the machine, a reading of its boot clock (which counts sleep
too), and the scheduling time at that reading. On the same boot, time is the anchor's plus what has
passed since, so that every process of the store shares one axis and a set clock changes nothing.
After another boot the anchor is laid anew at the wall clock, but not before the last response that
the store knows of, nor before the anchor that held. Where the machine has no boot clock, each
process lays its own and nothing is stored.

Machines share the clock of a server: its time of day, plus an offset that the store holds for all.
Each process carries it on by its own boot clock and compares from time to time (`keep_time`). A
clock that drifts is led back slowly, because a step forward would shorten a rest. Where the two are
apart by more than drift can explain, either this machine stood still, and its time is set forward,
or the server's clock was set, and the offset takes that back: for the fleet no time was lost.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from geomi.ports.runtime import ClockAnchor, ServerClock

# A sleep is cut into parts: asyncio's timer stands still while the machine sleeps, ours does not.
LONGEST_SLEEP_S = 30.0

# More than this is no drift: a second is a day's drift of a bad clock, and ten times what a busy
# machine makes of a measurement.
MOST_DRIFT_S = 1.0
# Good clocks drift by some parts in a hundred thousand; led at this rate one comes back, while a
# rest of ten seconds is shortened by five milliseconds at most.
LEAD_RATE = 0.0005
# Whoever was heard of in this time, lives: some more than the time between two beats. A server's
# clock that is set back by less is waited for, because it may as well be ours that is ahead.
FRESH_S = 15.0

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


class AnchorKeeper(Protocol):
    """What a store keeps for its clock."""

    def anchor(self) -> ClockAnchor | None:
        """Return the anchor that holds, if any was laid."""
        ...

    def set_anchor(self, anchor: ClockAnchor, *, instead_of: ClockAnchor | None) -> ClockAnchor:
        """Replace the anchor that was read; return the one that holds."""
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
    # Before the first response, what waits is due by the time at which the last boot began.
    least_s = max(store.greatest_end_s(), held.time_s if held else 0.0)
    time_s = max(readings.wall_s(), least_s)
    anchor = ClockAnchor(readings.boot_id, reading_s, time_s)
    if readings.boot_id:
        anchor = store.set_anchor(anchor, instead_of=held)
    return SystemClock(anchor, readings)


def open_shared_clock(
    server: ServerClock, *, least_s: float, readings: Readings | None = None
) -> SystemClock:
    """Return a clock that follows the server of a store, for machines with different clocks.

    Each process ties its own clock to the server's time when it opens the store, so nothing has to
    be stored.

    Args:
        least_s: the latest time at which any response is known to have ended.
    """
    readings = readings or system_readings()
    time_s = max(server.time_s(), least_s)
    return SystemClock(ClockAnchor("", readings.passing_s(), time_s), readings)


async def keep_time(
    clock: SystemClock, server: ServerClock, beats_s: Callable[[], Awaitable[Sequence[float]]]
) -> float:
    """Compare a clock with its server's and correct it; return a jump, if there was one.

    Args:
        beats_s: returns the last heartbeats of the other processes of the store, by its time.
    """
    found = await server.compare(clock.now_s)
    if abs(found.ahead_s) <= MOST_DRIFT_S:
        clock.lead(found.ahead_s)
        return 0.0
    if stood_still(found.ahead_s, clock.now_s(), await beats_s()):
        clock.step(found.ahead_s)
    else:
        offset_s = found.offset_s - found.ahead_s
        await server.set_offset(offset_s, instead_of=found.offset_s)
    return found.ahead_s


def stood_still(ahead_s: float, now_s: float, beats_s: Sequence[float]) -> bool:
    """Whether this machine, and not the server's clock, is to blame for a difference.

    The others tell: those that are ahead of us have not stood still, nor have those that were heard
    at the store's time while ours is ahead of it. Alone we blame the server, which costs nothing:
    as much time is taken back as has passed.
    """
    if ahead_s > 0:
        return any(beat_s > now_s + MOST_DRIFT_S for beat_s in beats_s)
    there_s = now_s + ahead_s
    return any(there_s - FRESH_S < beat_s <= there_s + MOST_DRIFT_S for beat_s in beats_s)


class SystemClock:
    """`ports.runtime.Clock` of one process."""

    def __init__(self, anchor: ClockAnchor, readings: Readings) -> None:
        self._passing_s, self._wall_s = readings.passing_s, readings.wall_s
        self._ahead_s = anchor.time_s - anchor.reading_s
        self._least_s = float("-inf")
        self._led_s = anchor.time_s

    def now_s(self) -> float:
        """Return scheduling time."""
        now_s = self._ahead_s + self._passing_s()
        return now_s if now_s > self._least_s else self._least_s

    def lead(self, ahead_s: float) -> None:
        """Come nearer to a time that is ahead by so much, or behind, as slowly as clocks drift."""
        now_s = self.now_s()
        most_s = max(0.0, now_s - self._led_s) * LEAD_RATE
        self._led_s = now_s
        self.step(max(-most_s, min(most_s, ahead_s)))

    def step(self, ahead_s: float) -> None:
        """Step forward by this much; if it is negative, stand still until then."""
        self._least_s = self.now_s()
        self._ahead_s += ahead_s

    def set_back(self, by_s: float) -> None:
        """Go back; only for a process that has done nothing yet."""
        self._ahead_s -= by_s
        self._least_s = float("-inf")

    def wall_s(self) -> float:
        """Return the time of day."""
        return self._wall_s()

    async def sleep_until(self, when_s: float) -> None:
        """Wait until scheduling time has reached `when_s`."""
        while (left_s := when_s - self.now_s()) > 0:  # noqa: ASYNC110  # nothing tells us the time
            await asyncio.sleep(min(left_s, LONGEST_SLEEP_S))


def _wall_s() -> float:
    return time.time()  # noqa: TID251  # the one place that reads the time of day
