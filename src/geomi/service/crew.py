"""The processes beside the server: some crawl, one understands, and the dead are replaced.

The server itself never crawls, so that it answers while they work; their events come to it through
their pipes, and are what its metrics count.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from geomi.adapters.machine.processes import ProcessWorkerHandle, start_worker
from geomi.engine.world import wait_for_event
from geomi.errors import GeomiError
from geomi.model.event import Warned
from geomi.ports.sink import EventSink
from geomi.settings.options import Settings

PROGRAM = "geomi.servant"
# How long nobody follows one that died, longer each time until one of them has lived for a while.
FIRST_REST_S, LONGEST_REST_S = 0.5, 60.0
LIVED_S = 300.0


class Calling(StrEnum):
    """What a process of the service is there for."""

    CRAWL = "crawl"
    UNDERSTAND = "understand"
    PREPARE = "prepare domains"


@dataclass(frozen=True, slots=True)
class Errand:
    """What such a process is told: where the data are, and what to do with them.

    Args:
        concurrency: requests at once, where it crawls.
    """

    root: Path
    settings: Settings
    calling: Calling
    concurrency: int = 1


class Crew:
    """Keeps the places of a service filled until it is told to end.

    Args:
        sink: hears what happens in all of them.
    """

    def __init__(self, errands: tuple[Errand, ...], sink: EventSink) -> None:
        self._errands = errands
        self._sink = sink
        self._hands: set[ProcessWorkerHandle] = set()
        self._leaving = asyncio.Event()

    async def run(self) -> None:
        """Keep every place filled; return when all have ended after `drain`."""
        async with asyncio.TaskGroup() as group:
            for number, errand in enumerate(self._errands):
                group.create_task(self._fill(errand), name=f"{errand.calling} {number}")

    def drain(self) -> None:
        """Let everybody finish what is in flight; called again, now."""
        self._leaving.set()
        for hand in self._hands:
            hand.drain()

    @property
    def is_whole(self) -> bool:
        """Whether every place is filled."""
        return len(self._hands) == len(self._errands)

    async def _fill(self, errand: Errand) -> None:
        rest_s = FIRST_REST_S
        while not self._leaving.is_set():
            began_s = asyncio.get_running_loop().time()
            problem = await self._live(errand)
            if self._leaving.is_set():
                return
            lived_s = asyncio.get_running_loop().time() - began_s
            rest_s = FIRST_REST_S if lived_s > LIVED_S else min(rest_s * 2, LONGEST_REST_S)
            told = f"a process that was to {errand.calling} {problem}; another follows"
            self._sink.emit(Warned("", f"{told} in {rest_s:g} s"))
            await wait_for_event(self._leaving, rest_s)

    async def _live(self, errand: Errand) -> str:
        """Run one life; return how it ended."""
        started = await asyncio.to_thread(start_worker, PROGRAM)
        hand = ProcessWorkerHandle(str(errand.calling), started, errand, self._sink)
        self._hands.add(hand)
        if self._leaving.is_set():
            hand.drain()
        try:
            return "died" if await hand.wait() is None else "ended"
        except GeomiError as error:
            return f"gave up: {error.message}"
        finally:
            self._hands.discard(hand)
