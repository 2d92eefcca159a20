"""The fault layer: every durable operation of a process passes it, and may be its last.

Operations are counted in the order they happen: writes of files, fsyncs, renames, links, removals,
commits of either database, and uploads. A plan, which comes in `CHAOS_PLAN` as JSON, says what
happens at which of them. What is torn reaches its file by half; of a COMMIT sent to a server nobody
reads the answer.
"""

from __future__ import annotations

import errno
import json
import os
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import NoReturn, TypeVar

from tests.chaos.vfs import FULL, IOERR_SYNC, IOERR_WRITE

VARIABLE = "CHAOS_PLAN"
SLOW = ("fsync", "db fsync")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to happen to a process.

    Args:
        die_at: the operation, counted from 1, in which it dies; 0: none.
        after: it dies right after that operation, and not in its middle.
        fail_at, fail_until: the operations from, and to before, which each is refused.
        error: what they are refused with.
        fsync_s: how much longer each fsync takes.
        told_to: a file that gets one line an operation.
        wall_s: (seconds from the start, how far the wall clock is off from then on) in order.
        server_s: how far the database server's clock is off.
        retry_s: how long a page waits before it is tried again, in place of half a minute.
        segment_bytes: how large a segment of the archive grows, so that there are several.
        twice: every settlement is delivered again, after this many others; 0: at once; -1: never.
    """

    die_at: int = 0
    after: bool = False
    fail_at: int = 0
    fail_until: int = 0
    error: int = errno.ENOSPC
    fsync_s: float = 0.0
    told_to: str = ""
    wall_s: tuple[tuple[float, float], ...] = ()
    server_s: float = 0.0
    retry_s: float = 0.0
    segment_bytes: int = 0
    twice: int = -1

    def as_environment(self) -> dict[str, str]:
        """Return what a process is told it by."""
        return {VARIABLE: json.dumps(asdict(self))}


class Layer:
    """Counts the operations of a process and does with each what the plan says."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._lock = threading.Lock()
        self._count = 0
        self._told = -1
        if plan.told_to:
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
            self._told = os.open(plan.told_to, flags, 0o600)
        self._write = os.write

    def call(
        self, kind: str, whole: Callable[[], T], half: Callable[[], object] | None = None
    ) -> T:
        """Do an operation of the system, or what becomes of it."""
        number = self._next(kind)
        if self._is_refused(number):
            raise OSError(self._plan.error, os.strerror(self._plan.error))
        if number == self._plan.die_at and not self._plan.after:
            if half is not None:
                half()
            die()
        result = whole()
        if number == self._plan.die_at:
            die()
        return result

    def file(self, kind: str, whole: Callable[[], int], half: Callable[[], int] | None) -> int:
        """Do an operation of SQLite's, which answers with codes."""
        try:
            return int(self.call(kind, whole, half))
        except OSError as error:
            if error.errno == errno.ENOSPC:
                return FULL
            return IOERR_SYNC if kind == "db fsync" else IOERR_WRITE

    def _next(self, kind: str) -> int:
        with self._lock:
            self._count += 1
            if self._told >= 0:
                self._write(self._told, f"{kind}\n".encode())
            number = self._count
        if self._plan.fsync_s and kind in SLOW:
            time.sleep(self._plan.fsync_s)
        return number

    def _is_refused(self, number: int) -> bool:
        plan = self._plan
        return plan.fail_at > 0 and plan.fail_at <= number < plan.fail_until


def die() -> NoReturn:
    """End this process as `kill -9` does."""
    os.kill(os.getpid(), signal.SIGKILL)
    while True:  # the signal may take a moment, in which nothing more may happen
        time.sleep(1)


def read_plan() -> Plan | None:
    """Return what the environment asks for, if anything."""
    if VARIABLE not in os.environ:
        return None
    told = json.loads(os.environ[VARIABLE])
    return Plan(**told | {"wall_s": tuple(map(tuple, told["wall_s"]))})
