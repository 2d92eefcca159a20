"""Calling what waits from where nothing waits."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec, TypeVar

LONGEST_S = 60.0

P = ParamSpec("P")
T = TypeVar("T")


def waits(work: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """Let pytest, or a helper, call an async function: in a loop of its own, within a minute."""

    @wraps(work)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        async def bounded() -> T:
            async with asyncio.timeout(LONGEST_S):
                return await work(*args, **kwargs)

        return asyncio.run(bounded())

    return run
