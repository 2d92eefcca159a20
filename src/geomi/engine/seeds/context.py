"""Bundle the ports and settings of the seed engine, and describe a task that it works on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from geomi.engine.world import World
from geomi.model.config import CrawlConfig
from geomi.model.dataset.queue import Loan
from geomi.ports.dataset import Dataset, SeedQueues


@dataclass(frozen=True, slots=True)
class SeedContext:
    """One dataset, the queues of its tenant, the rules, and the world around them."""

    world: World
    config: CrawlConfig
    queues: SeedQueues
    dataset: Dataset


class HeldTask(Protocol):
    """A task that is worked on, with the messages that waited for it."""

    @property
    def loan(self) -> Loan:
        """What was lent."""
        ...

    @property
    def alone(self) -> bool:
        """Whether processes died of it, so that files are read in the one that can be killed."""
        ...

    async def keep(self) -> None:
        """Make sure that it is still ours, before something is written; `LeaseLost` if not."""
        ...
