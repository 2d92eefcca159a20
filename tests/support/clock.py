"""A clock turned by hand: time passes when a test says so, and sleepers wake at their hour."""

from __future__ import annotations

import asyncio


class HandClock:
    """`ports.runtime.Clock` whose scheduling time and time of day are the same number."""

    def __init__(self, start_s: float = 1_000_000.0) -> None:
        self._now_s = start_s
        self._sleepers: list[tuple[float, asyncio.Future[None]]] = []

    def now_s(self) -> float:
        """Return the hand's place."""
        return self._now_s

    def wall_s(self) -> float:
        """Return the hand's place."""
        return self._now_s

    async def sleep_until(self, when_s: float) -> None:
        """Wait until somebody has turned the hand to `when_s`."""
        if when_s <= self._now_s:
            return
        waking: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        sleeper = (when_s, waking)
        self._sleepers.append(sleeper)
        try:
            await waking
        finally:
            self._sleepers.remove(sleeper)

    @property
    def next_wake_s(self) -> float | None:
        """When the first sleeper wants to wake; None when nobody sleeps."""
        return min((when_s for when_s, waking in self._sleepers if not waking.done()), default=None)

    def advance(self, seconds: float) -> None:
        """Turn the hand forward and wake whoever's hour has come."""
        self._now_s += seconds
        for when_s, waking in self._sleepers:
            if when_s <= self._now_s and not waking.done():
                waking.set_result(None)
