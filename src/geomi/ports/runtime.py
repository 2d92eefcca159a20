"""What a process gives the engine: clock, disk, a process for heavy work, a sink for events.

`Clock` is the only source of time; `SharedTime` keeps it equal to that of other processes. A store
ties its time to a clock by a `ClockAnchor`, or to that of its database server by a `ServerClock`.
`Disk` says whether there is enough free space. `Compute` runs native code that cannot be
interrupted, in a process that can be killed. `WorkMark` remembers what a process died of. `Vault`
encrypts small secrets. `EventSink` takes events; it never waits and never fails a crawl.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from geomi.model.config import Extraction, RobotsRules
from geomi.model.event import Event
from geomi.model.index.analysis import AnalysisRules
from geomi.model.page import Article


class Clock(Protocol):
    """Two readings and one wait; nothing else in geomi knows what time it is."""

    def now_s(self) -> float:
        """Return scheduling time: it never runs backwards, across restarts too."""
        ...

    def wall_s(self) -> float:
        """Return the time of day, for people and for the archive only."""
        ...

    async def sleep_until(self, when_s: float) -> None:
        """Wait until scheduling time has reached `when_s`."""
        ...


class SharedTime(Protocol):
    """Keeps the clock of this process at one with those of all others that use its store."""

    async def agree(self) -> None:
        """Go by the time of those who work already, before this process does."""
        ...

    async def correct(self) -> float:
        """Put this process's clock right; return how far that of the store had jumped."""
        ...


@dataclass(frozen=True, slots=True)
class ClockAnchor:
    """One moment on two axes: the boot clock of one boot, and scheduling time."""

    boot_id: str
    reading_s: float
    time_s: float


@dataclass(frozen=True, slots=True)
class ClockComparison:
    """How far the time of a store is ahead of a clock, and its offset from the server's time."""

    ahead_s: float
    offset_s: float


class ServerClock(Protocol):
    """The clock of a database server, which machines with clocks of their own share."""

    def time_s(self) -> float:
        """Return the store's time, never before the last sign of any worker."""
        ...

    async def compare(self, now_s: Callable[[], float]) -> ClockComparison:
        """Say how far the store's time is ahead of a clock."""
        ...

    async def set_offset(self, offset_s: float, *, instead_of: float) -> bool:
        """Let the store's time differ from its server's by so much; False where another did."""
        ...


class Disk(Protocol):
    """The disk that this process writes to."""

    def has_space(self) -> bool:
        """Return whether enough of it is free for more writes."""
        ...


@dataclass(frozen=True, slots=True)
class Unread:
    """Why the process that can be killed has not read something.

    Args:
        crashed: it died of what it read; else its time or its memory was up.
    """

    reason: str
    crashed: bool = False


class RehearsedBody(StrEnum):
    """What a body is whose reading is rehearsed."""

    ROBOTS = "robots"
    SITEMAP = "sitemap"
    LISTING = "listing"
    DOCUMENT = "document"


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """A reading in the process that can be killed, of which only the survival counts.

    Args:
        robots: the rules by which a robots.txt is read.
        analysis: the rules by which a document is analysed.
    """

    body: RehearsedBody
    robots: RobotsRules = field(default_factory=RobotsRules)
    analysis: AnalysisRules = field(default_factory=AnalysisRules)


class Compute(Protocol):
    """Extraction in a process that can be killed."""

    async def extract(
        self,
        body: bytes,
        url: str,
        content_type: str,
        rules: Extraction,
        *,
        max_links: int,
        deadline_s: float,
    ) -> Article | Unread:
        """Extract a page that is large or suspect, or say why that failed."""
        ...

    async def rehearse(self, what: Rehearsal, body: bytes, *, deadline_s: float) -> Unread | None:
        """Read something that no other process should read before; say why that failed."""
        ...

    async def aclose(self) -> None:
        """End the process."""
        ...


MARK_LENGTH = struct.Struct("!H")  # stands before what a mark says


class WorkMark(Protocol):
    """What this process has in hand, kept where its death does not erase it.

    Nothing here may fail or wait: it is called at each step of a visit.

    Attributes:
        frame: what is in hand now; empty for nothing.
    """

    frame: bytes

    def put(self, frame: bytes) -> None:
        """Note what is in hand from now on: a length, and a `WorkInHand` in few bytes.

        Nothing changes for an empty frame.
        """
        ...

    def clear(self) -> None:
        """Note that nothing is in hand."""
        ...

    def leave(self) -> None:
        """Let it stay as it is: this process ends because of what it has in hand."""
        ...


class Vault(Protocol):
    """Encrypts secrets with a key that is not in the store."""

    def seal(self, secret: bytes) -> str:
        """Encrypt a secret."""
        ...

    def unseal(self, sealed: str) -> bytes:
        """Decrypt what was sealed with this key; ConfigError for anything else."""
        ...


class EventSink(Protocol):
    """A listener that must not wait and must not fail the crawl."""

    def emit(self, event: Event) -> None:
        """Take one event."""
        ...
