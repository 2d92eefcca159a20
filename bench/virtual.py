"""Time that is computed, not waited for: an event loop whose clock jumps to the next timer.

What the code on it awaits is real; only waiting costs nothing. While a thread of it works, time
stands still, so that a slow disk does not look like a slow web.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable
from concurrent.futures import Executor
from typing import TypeVar

START_S = 1_000_000_000.0

T = TypeVar("T")


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop that is never idle."""

    def __init__(self) -> None:
        self._timer = _Timer()
        super().__init__(self._timer)

    def time(self) -> float:
        """Return virtual time."""
        return self._timer.now_s

    def run_in_executor(
        self, executor: Executor | None, func: Callable[..., T], *args: object
    ) -> asyncio.Future[T]:
        """Run something in a thread, and let no time pass meanwhile."""
        future = super().run_in_executor(executor, func, *args)
        self._timer.working += 1
        future.add_done_callback(self._done)
        return future

    def _done(self, _: asyncio.Future[T]) -> None:
        self._timer.working -= 1


class VirtualClock:
    """`ports.runtime.Clock` of a virtual loop; scheduling time and time of day are one number."""

    def now_s(self) -> float:
        """Return virtual time."""
        return START_S + asyncio.get_running_loop().time()

    def wall_s(self) -> float:
        """Return virtual time."""
        return self.now_s()

    async def sleep_until(self, when_s: float) -> None:
        """Wait for a time, which takes none."""
        if (left_s := when_s - self.now_s()) > 0:
            await asyncio.sleep(left_s)


class _Timer(selectors.DefaultSelector):
    """A selector that answers at once, and turns the clock by as long as it was told to wait."""

    def __init__(self) -> None:
        super().__init__()
        self.now_s = 0.0
        self.working = 0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if self.working:
            return super().select(timeout if timeout is not None and timeout <= 0 else None)
        ready = super().select(0)
        if not ready and timeout is not None and timeout > 0:
            self.now_s += timeout
        return ready
