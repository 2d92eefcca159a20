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
import stat
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from tests.chaos.vfs import FULL, IOERR_SYNC, IOERR_WRITE, Shim

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
        lease_s: what is left of the margins of a lease, so that a test can outwait one.
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
    lease_s: float = 0.0
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


def lay(plan: Plan) -> None:
    """Put the layer under this process, for good."""
    layer = Layer(plan)
    _KEPT.append(Shim(layer))
    _under_files(layer)
    _under_postgres(layer, plan)
    _under_bucket(layer)
    _set_clocks(plan)
    _set_sizes(plan)
    if plan.twice >= 0:
        _deliver_twice(plan.twice)


_KEPT: list[object] = []


def read_plan() -> Plan | None:
    """Return what the environment asks for, if anything."""
    if VARIABLE not in os.environ:
        return None
    told = json.loads(os.environ[VARIABLE])
    return Plan(**told | {"wall_s": tuple(map(tuple, told["wall_s"]))})


def _under_files(layer: Layer) -> None:
    patched: Any = os
    write, write_bytes = os.write, Path.write_bytes

    def write_file(fd: int, data: Any) -> int:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return write(fd, data)
        return layer.call(
            "append",
            lambda: write(fd, data),
            lambda: write(fd, memoryview(data)[: len(data) // 2]),
        )

    def write_path(path: Path, data: Any) -> int:
        return layer.call(
            "write",
            lambda: write_bytes(path, data),
            lambda: write_bytes(path, data[: len(data) // 2]),
        )

    patched.write = write_file
    patched_path: Any = Path
    patched_path.write_bytes = write_path
    names = ("fsync", "replace", "rename", "unlink", "link", "symlink", "truncate", "ftruncate")
    for name in names:
        setattr(patched, name, _passing(layer, name, getattr(os, name)))


def _passing(layer: Layer, kind: str, real: Callable[..., Any]) -> Callable[..., Any]:
    def call(*arguments: Any, **options: Any) -> Any:
        return layer.call(kind, lambda: real(*arguments, **options))

    return call


def _under_postgres(layer: Layer, plan: Plan) -> None:
    """Let commits pass; a torn one is sent, and nobody is there to hear the answer."""
    try:
        from psycopg import Connection, Transaction, errors
    except ImportError:
        return
    from geomi.adapters.postgres import PostgresStore

    leave = Transaction.__exit__

    def commit(self: Transaction, kind: Any, error: Any, trace: Any) -> bool:
        if error is not None or self.savepoint_name:
            return bool(leave(self, kind, error, trace))
        try:
            return layer.call(
                "commit",
                lambda: leave(self, kind, error, trace),
                lambda: _send_commit(self.connection),
            )
        except OSError as refusal:  # on the server's side
            is_full = refusal.errno == errno.ENOSPC
            said = (errors.DiskFull if is_full else errors.IoError)(os.strerror(refusal.errno or 0))
            leave(self, type(said), said, None)
            raise said from refusal

    def _send_commit(connection: Connection[Any]) -> None:
        connection.pgconn.send_query(b"COMMIT")
        connection.pgconn.flush()

    patched: Any = Transaction
    patched.__exit__ = commit
    time_s = PostgresStore.time_s
    other: Any = PostgresStore
    other.time_s = lambda self: time_s(self) + plan.server_s


def _under_bucket(layer: Layer) -> None:
    """Let uploads pass; in the middle of one, some of its bytes are under way."""
    try:
        import obstore
    except ImportError:
        return
    import asyncio

    put = obstore.put_async

    async def put_async(*arguments: Any, **options: Any) -> Any:
        task = asyncio.ensure_future(put(*arguments, **options))
        await asyncio.sleep(0)
        # Half is what another thread has sent by then.
        layer.call("upload", lambda: None, lambda: time.sleep(0.005))
        return await task

    patched: Any = obstore
    patched.put_async = put_async


def _set_clocks(plan: Plan) -> None:
    if not plan.wall_s:
        return
    patched: Any = time
    real, began_s = time.time, time.monotonic()

    def now_s() -> float:
        passed_s = time.monotonic() - began_s
        return real() + [0.0, *(off_s for at_s, off_s in plan.wall_s if at_s <= passed_s)][-1]

    patched.time = now_s


def _set_sizes(plan: Plan) -> None:
    if plan.lease_s:
        os.environ["GEOMI_SILENCE_S"] = str(plan.lease_s)
    if plan.retry_s:
        from geomi.fetch import retry

        retry.BY_OUTCOME = dict.fromkeys(retry.BY_OUTCOME, (plan.retry_s,) * 3)
    if plan.segment_bytes:
        from geomi.adapters.blob.dir import DirectoryArchive
        from geomi.adapters.blob.s3 import S3Archive

        for archive in (DirectoryArchive, S3Archive):
            defaults: Any = archive.__init__.__kwdefaults__
            defaults["segment_bytes"] = plan.segment_bytes


def _deliver_twice(later: int) -> None:
    """Let every settlement reach the store a second time, like a message that was sent again."""
    from geomi.adapters.postgres.frontier import PostgresFrontier
    from geomi.adapters.sqlite.frontier import SqliteFrontier

    for frontier in (SqliteFrontier, PostgresFrontier):
        patched: Any = frontier
        patched.settle = _twice(patched.settle, later)


def _twice(settle: Callable[..., Any], later: int) -> Callable[..., Any]:
    waiting: list[Any] = []

    async def deliver(self: Any, batch: Any) -> Any:
        settled = await settle(self, batch)
        waiting.append(batch)
        if len(waiting) > later:
            await settle(self, waiting.pop(0))
        return settled

    return deliver
