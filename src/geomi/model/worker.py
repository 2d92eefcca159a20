"""What a worker process writes about itself for others, and what they note when it has died.

One death says little: a person may have killed the process. So geomi counts. After `ALONE_AFTER`
deaths it reads a page only in the process that it can kill. If that process dies of the page, or a
worker does once more, the page ends as poisoned.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum

ALONE_AFTER = 2
POISONED_AFTER = 3
# A page may be mended, and so may its reader: after this time it is as good as any other.
FORGET_S = 30 * 86_400.0
MAX_LABEL_CHARS = 500


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


class WorkKind(StrEnum):
    """The work that a process may die of."""

    PAGE = "page"  # a visit of an entry: its page, list, or the robots.txt before it
    DOCUMENT = "document"  # a capture that is enriched
    TASK = "task"  # a task of the seed engine


@dataclass(frozen=True, slots=True)
class WorkInHand:
    """What a process works on at this moment.

    Args:
        name: tells it from others of its kind and tenant: a hash, never longer than 64 bytes.
        label: its name for people.
    """

    tenant: str
    kind: WorkKind
    name: bytes
    label: str


@dataclass(frozen=True, slots=True)
class Suspect:
    """Work that was in hand when processes died.

    Args:
        deaths: how many processes died; `owner` was the last of them.
        noted_s: when that was noted (wall clock).
    """

    kind: WorkKind
    name: bytes
    label: str
    deaths: int
    owner: str
    noted_s: float

    @property
    def told(self) -> str:
        """Say what geomi does about it."""
        if self.deaths >= POISONED_AFTER:
            return "geomi leaves it out from now on"
        if self.deaths >= ALONE_AFTER:
            return "it is read in a process of its own from now on"
        return "it is tried again"


def pack_work(work: WorkInHand) -> bytes:
    """Write it in few bytes; `unpack_work` reads them."""
    label = work.label[:MAX_LABEL_CHARS].replace("\0", "")  # which PostgreSQL does not keep
    told = [work.tenant, work.kind.value, work.name.hex(), label]
    return json.dumps(told, ensure_ascii=False).encode("utf-8", "replace")


def unpack_work(packed: bytes) -> WorkInHand | None:
    """Read what a process had in hand; None where it had nothing, or it cannot be read."""
    try:
        tenant, kind, name, label = json.loads(packed)
        return WorkInHand(str(tenant), WorkKind(kind), bytes.fromhex(name), str(label))
    except (ValueError, TypeError):
        return None
