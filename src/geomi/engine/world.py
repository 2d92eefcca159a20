"""Bundle the ports that one worker was given, so that a use case names what it needs once.

`World` holds the ports, the clock and the name of this process. `Meter` adds up what the process
spends: time for claims and settlements, CPU for each stage, waits for hosts. It is read as one
event now and then; a page costs some microseconds more. `wait_for_event` waits with a limit.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import ParamSpec, TypeVar

from geomi.engine.in_hand import NoMark
from geomi.engine.listed_domains import ListedDomains
from geomi.engine.loop_share import LoopShare
from geomi.model.event import Measured
from geomi.model.markdown import MarkdownRules
from geomi.ports.archive import Archive, Spool
from geomi.ports.runtime import Clock, Compute, Disk, EventSink, Vault, WorkMark
from geomi.ports.store import Store
from geomi.ports.web import Fetcher, Resolver

P = ParamSpec("P")
T = TypeVar("T")
# What a worker holds that nobody asks for: some minutes of a fast crawl.
MAX_KEPT = 1000
# How long a worker may be silent before others may have what it holds. Half of it is the longest
# rest that a host is held for; a request in flight comes on top.
SILENCE_S = 60.0


class Meter:
    """Adds up what one process spends."""

    def __init__(self) -> None:
        self._claims: list[float] = []
        self._settlements: list[float] = []
        self._stages: defaultdict[str, float] = defaultdict(float)
        self._waited_s = 0.0
        self.pages = 0  # visits that were committed since the process began

    def timed(self, stage: str, work: Callable[P, T]) -> Callable[P, T]:
        """Return some work that notes the CPU it takes; it must not wait for anything."""

        def measured(*args: P.args, **kwargs: P.kwargs) -> T:
            began_s = time.thread_time()
            try:
                return work(*args, **kwargs)
            finally:
                self._stages[stage] += time.thread_time() - began_s

        return measured

    def add(self, stage: str, seconds: float) -> None:
        """Note the CPU that a part of a stage took."""
        self._stages[stage] += seconds

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

    def settled(self, visits: int) -> None:
        """Note that visits were committed."""
        self.pages += visits

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


@dataclass(frozen=True, slots=True)
class World:
    """Everything outside the engine that a crawl touches; `version` signs its requests.

    Args:
        silence_s: how long this worker may be silent before others may have what it holds.
        mark: tells others what this process had in hand, should it die.
        markdown_rules: functions of whoever started this process; no other process has them.
        listed: the domains that no job of this process visits, as of when a job last read them.
        loop_share: lets pages whose links take long to judge leave time for all others.
    """

    clock: Clock
    fetcher: Fetcher
    resolver: Resolver
    store: Store
    archive: Archive
    spool: Spool
    compute: Compute
    disk: Disk
    sink: EventSink
    rng: random.Random
    version: str
    owner: str
    vault: Vault
    silence_s: float = SILENCE_S
    mark: WorkMark = field(default_factory=NoMark)
    meter: Meter = field(default_factory=Meter)
    markdown_rules: MarkdownRules = field(default_factory=dict)
    listed: ListedDomains = field(default_factory=ListedDomains)
    loop_share: LoopShare = field(default_factory=LoopShare)


async def wait_for_event(event: asyncio.Event, seconds: float) -> bool:
    """Wait for an event, but no longer than so; say whether it has happened."""
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        pass
    return event.is_set()
