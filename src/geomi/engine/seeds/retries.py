"""Trying again at once, in the hand of whoever works on a task (ERR-13, ERR-14).

The queue tries again later, and only when this has failed (C-85).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

from geomi.errors import SeedError
from geomi.model.seed import ErrorType
from geomi.ports.clock import Clock

MAX_RETRIES = 3
RETRYABLE = frozenset({ErrorType.NETWORK, ErrorType.TIMEOUT})

T = TypeVar("T")


async def with_retries(
    clock: Clock, operation: Callable[[], Awaitable[T]], *, max_retries: int = MAX_RETRIES
) -> T:
    """Do something; after a failure that may pass, again after 1, 2 and 4 s. Raise the last one."""
    for attempt in range(max_retries):
        try:
            return await operation()
        except SeedError as error:
            if error.kind not in RETRYABLE:
                raise
        await clock.sleep_until(clock.now_s() + 2**attempt)
    return await operation()


async def lasting(
    clock: Clock,
    ask: Callable[[], Awaitable[T]],
    judge: Callable[[T], None],
    *,
    goes_on: Callable[[], bool],
) -> T:
    """Ask until an answer is none that may pass, or asking again is pointless; return the last.

    Args:
        judge: raises where an answer is a failure that may pass.
        goes_on: whether it may be asked again.
    """
    latest: list[T] = []

    async def attempt() -> None:
        if latest and not goes_on():
            return
        latest[:] = [await ask()]
        judge(latest[0])

    with suppress(SeedError):
        await with_retries(clock, attempt)
    return latest[0]
