"""Where the fault layer lies: under files, SQLite, PostgreSQL, the bucket, and the clocks.

Everything is put in place of what it stands before, in a process that crawls and does nothing else.
"""

from __future__ import annotations

import asyncio
import errno
import os
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.chaos.layer import Layer, Plan
from tests.chaos.vfs import Shim

# What must not be collected while the process lives.
_KEPT: list[object] = []


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
    from geomi.adapters.store.postgres.clock import PostgresClock

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
        connection.pgconn.send_query_params(b"COMMIT", None)
        connection.pgconn.flush()

    patched: Any = Transaction
    patched.__exit__ = commit
    time_s = PostgresClock.time_s
    other: Any = PostgresClock
    other.time_s = lambda self: time_s(self) + plan.server_s


def _under_bucket(layer: Layer) -> None:
    """Let uploads pass; in the middle of one, some of its bytes are under way."""
    try:
        import obstore
    except ImportError:
        return
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
    if plan.retry_s:
        from geomi.fetch import retry

        retry.BY_OUTCOME = dict.fromkeys(retry.BY_OUTCOME, (plan.retry_s,) * 3)
    if plan.segment_bytes:
        from geomi.adapters.blob.directory import DirectoryArchive
        from geomi.adapters.blob.s3 import S3Archive

        for archive in (DirectoryArchive, S3Archive):
            defaults: Any = archive.__init__.__kwdefaults__
            defaults["segment_bytes"] = plan.segment_bytes


def _deliver_twice(later: int) -> None:
    """Let every settlement reach the store a second time, like a message that was sent again."""
    from geomi.adapters.store.hot import FrontierTable

    patched: Any = FrontierTable
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
