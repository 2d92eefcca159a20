"""Bound the CPU that costly requests of a tenant take, so that all others get their answers.

Plans, previews, explanations and searches are costly. What they take of this process is measured,
on the event loop step by step and in threads, and taken out of the tenant's budget, which refills.
A tenant that has spent it gets the time of its next try. Requests under way may take as much again.

They give way: what takes longer than a slice of the loop waits for its next one, and all costly
requests of all tenants together have half of the loop. Orders are read in a thread, one at a time
and for half of the time, because a thread that computes slows the loop down.
"""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Generator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Generic, ParamSpec, TypeVar

from geomi.adapters.machine.threads import charged_to
from geomi.errors import QuotaReached, StoreBusy

P = ParamSpec("P")
T = TypeVar("T")
MINUTE_S = 60.0
SLICE_S = 0.02
LOOP_SHARE = 0.5
# For work in a thread that somebody waits for, on a machine that is busy with something else.
DEADLINE_S = 10.0


class LoopPace:
    """The half of the loop, and of a thread, that all costly requests share."""

    def __init__(self) -> None:
        self._free_s = 0.0
        self._thread = asyncio.Lock()

    @asynccontextmanager
    async def thread(self) -> AsyncIterator[None]:
        """Hold the thread; it rests for as long as it was held."""
        await self._thread.acquire()
        began_s = time.monotonic()
        try:
            yield
        finally:
            rest_s = time.monotonic() - began_s
            asyncio.get_running_loop().call_later(rest_s, self._thread.release)

    def wait_s(self, took_s: float) -> float:
        """Return how long a request waits after a slice."""
        now_s = time.monotonic()
        self._free_s = max(now_s, self._free_s) + took_s / LOOP_SHARE
        return self._free_s - now_s


class CpuBudget:
    """What the costly requests of one tenant may take.

    Args:
        per_minute_s: seconds of CPU in a minute, and at once; 0 is no limit.
    """

    def __init__(self, per_minute_s: float, pace: LoopPace) -> None:
        self.pace = pace
        self._most_s = per_minute_s
        self._rate = per_minute_s / MINUTE_S
        self._left_s = per_minute_s
        self._at_s = time.monotonic()
        self._lock = threading.Lock()
        self._turn = asyncio.Lock()

    def charge(self, seconds: float) -> None:
        """Take some CPU out of the budget, from whichever thread."""
        with self._lock:
            now_s = time.monotonic()
            refilled_s = self._left_s + (now_s - self._at_s) * self._rate
            self._left_s = min(self._most_s, refilled_s) - seconds
            self._at_s = now_s

    def refuse_spent(self, *, owed_s: float = 0.0) -> None:
        """Raise where nothing is left, and more than so much is owed."""
        self.charge(0.0)
        if self._most_s and self._left_s <= -owed_s:
            raise QuotaReached(
                f"plans, previews, explanations and searches have taken {self._most_s:g} s of CPU, "
                "which is the limit for a minute",
                hint="wait; fewer and simpler patterns cost less",
                retry_after_s=math.ceil((self._most_s / 10 - self._left_s) / self._rate),
            )

    def refuse_excess(self) -> None:
        """Raise where one request, or several at once, took a second budget beyond the first."""
        self.refuse_spent(owed_s=self._most_s)

    async def spend(
        self, work: Callable[P, Coroutine[Any, Any, T]], *a: P.args, **b: P.kwargs
    ) -> T:
        """Do costly work, and measure it; once, where such work is a part of such work."""
        self.refuse_spent()
        if charged_to.get() is not None:
            return await work(*a, **b)
        token = charged_to.set(self.charge)
        try:
            return await _Measured(work(*a, **b), self)
        finally:
            charged_to.reset(token)

    async def in_thread(self, work: Callable[P, T], *a: P.args, **b: P.kwargs) -> T:
        """Do costly work beside the loop; one piece of a tenant stands in line at a time."""
        async with self._turn, self.pace.thread():
            try:
                async with asyncio.timeout(DEADLINE_S):
                    return await self.spend(asyncio.to_thread, partial(work, *a, **b))
            except TimeoutError as error:
                told = f"reading the request took longer than {DEADLINE_S:g} s"
                raise StoreBusy(told, hint="try again with fewer patterns") from error


class _Measured(Generic[T]):
    """A coroutine that is charged for each of its steps."""

    def __init__(self, work: Coroutine[Any, Any, T], budget: CpuBudget) -> None:
        self._work = work
        self._budget = budget

    def __await__(self) -> Generator[Any, Any, T]:
        step: Callable[[], Any] = partial(self._work.send, None)
        slice_s = 0.0
        while True:
            began_s = time.thread_time()
            try:
                waits = step()
            except StopIteration as end:
                result: T = end.value
                return result
            finally:
                took_s = time.thread_time() - began_s
                self._budget.charge(took_s)
                slice_s += took_s
            try:
                got = yield waits
                self._budget.refuse_excess()
                if slice_s >= SLICE_S:
                    pause = asyncio.sleep(self._budget.pace.wait_s(slice_s))
                    slice_s = 0.0
                    yield from pause.__await__()
                step = partial(self._work.send, got)
            except BaseException as error:
                step = partial(self._work.throw, error)
