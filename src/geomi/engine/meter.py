"""What a worker spends: time on claims and settlements, CPU on each stage, waits for a host's turn.

Kept apart from what it does, and told as one event now and then, so that a page costs some
microseconds more and nothing else.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

from geomi.model.event import Measured

P = ParamSpec("P")
T = TypeVar("T")

# What a worker holds that nobody asks for: some minutes of a fast crawl.
MAX_KEPT = 1000


class Meter:
    """Adds up what one process spends."""

    def __init__(self) -> None:
        self._claims: list[float] = []
        self._settlements: list[float] = []
        self._stages: defaultdict[str, float] = defaultdict(float)
        self._waited_s = 0.0

    def timed(self, stage: str, work: Callable[P, T]) -> Callable[P, T]:
        """Return some work that notes the CPU it takes; it must not wait for anything."""

        def measured(*args: P.args, **kwargs: P.kwargs) -> T:
            began_s = time.thread_time()
            try:
                return work(*args, **kwargs)
            finally:
                self._stages[stage] += time.thread_time() - began_s

        return measured

    @contextmanager
    def claim(self) -> Iterator[None]:
        """Note how long a claim takes."""
        with _noted(self._claims):
            yield

    @contextmanager
    def settlement(self) -> Iterator[None]:
        """Note how long a settlement takes."""
        with _noted(self._settlements):
            yield

    def waited(self, seconds: float) -> None:
        """Note that a host's turn was waited for."""
        self._waited_s += max(0.0, seconds)

    def take(self, job: str) -> Measured:
        """Return what was spent since the last time."""
        told = Measured(
            job,
            claims=tuple(self._claims),
            settlements=tuple(self._settlements),
            waited_s=self._waited_s,
            stages=tuple(sorted(self._stages.items())),
        )
        self._claims, self._settlements, self._waited_s = [], [], 0.0
        self._stages.clear()
        return told


@contextmanager
def _noted(kept: list[float]) -> Iterator[None]:
    began_s = time.perf_counter()
    try:
        yield
    finally:
        if len(kept) < MAX_KEPT:
            kept.append(time.perf_counter() - began_s)
