"""One life of the seed engine: it orchestrates, works, and dies at the step that it is told.

A step is whatever outlives the process: a file that is written or removed, messages that are sent,
a loan that is taken or settled. The engine knows nothing of it: what dies is a layer below its
dataset and its queues.
"""

from __future__ import annotations

import asyncio
import os
import signal
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from geomi.adapters.telemetry.fan_out import EventFanOut
from geomi.app import open_directory
from geomi.app.use.datasets import open_dataset
from geomi.engine.seeds.context import SeedContext
from geomi.engine.seeds.orchestrate import orchestrate
from geomi.engine.seeds.queue import work_on_queues
from geomi.model.config import CrawlConfig
from geomi.model.dataset.queue import Loan, LoanSettlement, Message
from geomi.model.dataset.seed import PartitionFilter
from geomi.ports.dataset import Dataset, SeedQueues
from geomi.ports.runtime import Clock
from geomi.settings.layers import flags_layer, resolve_under_profile
from geomi.settings.options import Settings

# Short enough that nobody waits for a loan that is renewed; a life that follows a death begins when
# all of its loans have passed, by its clock.
SILENCE_S = 5.0
LOOK_S = 0.005
CONTACT = "https://crawler.test/about"


@dataclass(frozen=True, slots=True)
class Life:
    """What a process does, and when it dies.

    Args:
        root: its data directory.
        die_at: the number of the step it dies at, from 1; 0 for none.
        stop_at: how the name of the first step ends at which it stands still; empty for none.
        phase: whether that happens before that step is taken, or after it.
        later_s: how far its clock is ahead of the machine's.
        serves: whether it works until it is asked to leave, by SIGTERM.
        steps: where it notes each step that it has taken.
    """

    root: str
    dataset: str
    db: str
    resolve: tuple[str, ...]
    ca_file: str
    die_at: int = 0
    stop_at: str = ""
    phase: Literal["before", "after"] = "before"
    later_s: float = 0.0
    orchestrates: bool = True
    works: bool = True
    serves: bool = False
    steps: str = os.devnull


def live(order: dict[str, Any]) -> int:
    """Live a life; return how it ended, unless it was killed."""
    life = Life(**order | {"resolve": tuple(order["resolve"])})
    try:
        asyncio.run(_live(life))
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def config() -> CrawlConfig:
    """Return the seed engine's settings, without rests: all hosts are ours."""
    found = resolve_under_profile([flags_layer({"profile": "seed-engine"})]).config
    return replace(
        found,
        politeness=replace(found.politeness, delay_s=0.0, per_ip=100),
        seeds=replace(found.seeds, seed_batch_wait_s=0.0, domain_batch_wait_s=0.0),
    )


async def _live(life: Life) -> None:
    settings = Settings(
        contact=CONTACT,
        db=life.db,
        resolve=life.resolve,
        ca_file=life.ca_file,
        min_delay_s=0.0,
        silence_s=SILENCE_S,
    )
    leaving = asyncio.Event()
    fate = Fate(life, leaving)
    async with open_directory(Path(life.root), settings, lambda _: EventFanOut()) as home:
        seeding = SeedContext(
            replace(home.world, clock=LateClock(home.world.clock, life.later_s)),
            config(),
            MortalQueues(home.store.queues, fate),
            MortalDataset(open_dataset(life.dataset), fate),
        )
        if life.orchestrates:
            await orchestrate(seeding, PartitionFilter())
        if life.works:
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, leaving.set)
            await work_on_queues(seeding, leaving=leaving, is_done_when_empty=not life.serves)


@dataclass(frozen=True, slots=True)
class LateClock:
    """A clock that is ahead of another."""

    inner: Clock
    by_s: float

    def now_s(self) -> float:
        """Return scheduling time."""
        return self.inner.now_s() + self.by_s

    def wall_s(self) -> float:
        """Return the time of day."""
        return self.inner.wall_s()

    async def sleep_until(self, when_s: float) -> None:
        """Wait until scheduling time has reached `when_s`."""
        await self.inner.sleep_until(when_s - self.by_s)


class Fate:
    """Counts steps, and ends the process at one of them."""

    def __init__(self, life: Life, leaving: asyncio.Event) -> None:
        self._life = life
        self._leaving = leaving
        self._taken = 0
        self._has_stopped = False
        self._steps = Path(life.steps)

    def before(self, step: str) -> int:
        """Begin a step; return its number."""
        self._taken += 1
        self._meet(self._taken, "before", step)
        return self._taken

    def after(self, number: int, step: str) -> None:
        """End a step."""
        self._meet(number, "after", step)

    def _meet(self, number: int, phase: str, step: str) -> None:
        if phase == self._life.phase:
            with self._steps.open("a") as noted:
                noted.write(f"{step}\n")
            if number == self._life.die_at:
                os.kill(os.getpid(), signal.SIGKILL)
            if self._life.stop_at and not self._has_stopped and step.endswith(self._life.stop_at):
                self._stand_still()

    def _stand_still(self) -> None:
        """Do nothing, not even renew a loan, until somebody takes the sign away; then leave.

        Where the whole process stood still, it could do so with the database locked.
        """
        self._has_stopped = True
        self._leaving.set()
        sign = self._steps.with_suffix(".stopped")
        sign.touch()
        while sign.exists():
            time.sleep(LOOK_S)


class MortalDataset:
    """A dataset whose writes are steps."""

    def __init__(self, inner: Dataset, fate: Fate) -> None:
        self._inner = inner
        self._fate = fate

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def add(self, key: str, data: bytes) -> bool:
        """Write a file that is not there yet."""
        number = self._fate.before(f"add {key}")
        is_new = await self._inner.add(key, data)
        self._fate.after(number, f"add {key}")
        return is_new

    async def put(self, key: str, data: bytes) -> None:
        """Write a file in place of the one before."""
        number = self._fate.before(f"put {key}")
        await self._inner.put(key, data)
        self._fate.after(number, f"put {key}")

    async def remove(self, key: str) -> None:
        """Remove a file."""
        number = self._fate.before(f"remove {key}")
        await self._inner.remove(key)
        self._fate.after(number, f"remove {key}")


class MortalQueues:
    """Queues whose sends, loans and settlements are steps."""

    def __init__(self, inner: SeedQueues, fate: Fate) -> None:
        self._inner = inner
        self._fate = fate

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def send(self, dataset: str, messages: Sequence[Message]) -> int:
        """Let messages wait."""
        step = f"send {' '.join(message.task for message in messages)}"
        number = self._fate.before(step)
        new = await self._inner.send(dataset, messages)
        self._fate.after(number, step)
        return new

    async def claim(self, dataset: str, queue: str, **asked: Any) -> Sequence[Loan]:
        """Lend tasks; only what lends something is a step."""
        loans = await self._inner.claim(dataset, queue, **asked)
        if loans:
            step = f"claim {' '.join(loan.task for loan in loans)}"
            self._fate.after(self._fate.before(step), step)
        return loans

    async def settle(self, dataset: str, loan: Loan, settlement: LoanSettlement) -> bool:
        """End messages of a loan."""
        number = self._fate.before(f"settle {loan.task}")
        is_ours = await self._inner.settle(dataset, loan, settlement)
        self._fate.after(number, f"settle {loan.task}")
        return is_ours
