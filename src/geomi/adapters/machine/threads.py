"""Threads whose CPU is charged to whatever asked for the work."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import ContextVar
from functools import partial
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
Charge = Callable[[float], None]

# Who pays for the work that is asked for now; nobody where it costs nothing worth counting.
charged_to: ContextVar[Charge | None] = ContextVar("charged_to", default=None)


class MeasuredThreads(ThreadPoolExecutor):
    """A pool of threads that tells what each piece of work took."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run something in a thread."""
        charge = charged_to.get()
        if charge is None:
            return super().submit(fn, *args, **kwargs)
        return super().submit(_measured, charge, partial(fn, *args, **kwargs))


def _measured(charge: Charge, work: Callable[[], T]) -> T:
    began_s = time.thread_time()
    try:
        return work()
    finally:
        charge(time.thread_time() - began_s)
