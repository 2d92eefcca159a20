"""What a worker process writes about itself into the store, for other processes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class WorkerRole(StrEnum):
    """What a process does for the jobs it is there for."""

    WORKER = "worker"  # fetches pages for whoever wants them
    SUPERVISOR = "supervisor"  # runs one crawl, and writes its outputs


@dataclass(frozen=True, slots=True)
class WorkerCard:
    """One process that works on a store, on whichever machine.

    Args:
        owner: its name, as leases and segments carry it.
        machine: the name of its machine, and `root` its data directory there.
        jobs: what it works on now; empty while it waits for any.
        started_s: when it came, by the store's clock, and `beat_s` when it was last heard of.
        silence_s: how long it may be silent before it counts as dead.
        pages_per_s: how fast it has been lately.
        hosts: how many hosts it holds.
        region: which region it is in; hosts of other regions are not lent to it.
    """

    owner: str
    machine: str
    root: str
    pid: int
    role: WorkerRole
    version: str
    started_s: float
    beat_s: float
    silence_s: float
    jobs: tuple[str, ...] = ()
    pages: int = 0
    pages_per_s: float = 0.0
    hosts: int = 0
    region: str = ""

    def is_silent(self, now_s: float) -> bool:
        """Whether it has sent no heartbeat for too long."""
        return now_s - self.beat_s > self.silence_s
