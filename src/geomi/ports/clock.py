"""Time, as an argument of everything that needs it."""

from __future__ import annotations

from typing import Protocol


class Clock(Protocol):
    """Two readings and one wait; nothing else in geomi knows what time it is."""

    def now_s(self) -> float:
        """Return scheduling time: it never runs backwards, across restarts too."""
        ...

    def wall_s(self) -> float:
        """Return the time of day, for people and for the archive only."""
        ...

    async def sleep_until(self, when_s: float) -> None:
        """Wait until scheduling time has reached `when_s`."""
        ...
