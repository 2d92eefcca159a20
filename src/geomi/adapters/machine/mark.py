"""A file in which a process names the page that it reads; the file stays when the process dies.

The file is mapped into memory: a mark costs a copy of some bytes and no call of the system, and the
kernel keeps it whatever ends the process. It stands beside the lock of the process. A process that
finds the lock free reads the mark.
"""

from __future__ import annotations

import errno
import mmap
import os
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from geomi.adapters.machine.disk import refusal
from geomi.model.worker import WorkInHand, unpack_work
from geomi.ports.runtime import MARK_LENGTH

SIZE_BYTES = 4096


class MarkFile:
    """`ports.runtime.WorkMark` of one process, for as long as it lives."""

    def __init__(self, root: Path, owner: str) -> None:
        self._path = _file(root, owner)
        self._page: mmap.mmap | bytearray = bytearray(SIZE_BYTES)
        self.frame = b""

    def __enter__(self) -> MarkFile:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                # Written, not only sized: a page of a full disk would end us when it is touched.
                if os.write(descriptor, bytes(SIZE_BYTES)) < SIZE_BYTES:
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                self._page = mmap.mmap(descriptor, SIZE_BYTES)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise refusal(error, self._path) from error
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Remove the file; after an error it stays, like the lock."""
        if kind is None:
            with suppress(OSError):
                self._path.unlink(missing_ok=True)

    def put(self, frame: bytes) -> None:
        """Note what is in hand from now on."""
        self._page[: len(frame)] = frame
        self.frame = frame

    def clear(self) -> None:
        """Note that nothing is in hand."""
        self._page[: MARK_LENGTH.size] = _NOTHING
        self.frame = b""

    def leave(self) -> None:
        """Let the file stay as it is: this process ends because of what it has in hand."""
        self._page = bytearray(SIZE_BYTES)


_NOTHING = bytes(MARK_LENGTH.size)


def read_mark(root: Path, owner: str) -> WorkInHand | None:
    """Read what a process has in hand, or had when it died; None where that was nothing."""
    try:
        data = _file(root, owner).read_bytes()[:SIZE_BYTES]
    except OSError:
        return None
    if len(data) < MARK_LENGTH.size:
        return None
    (length,) = MARK_LENGTH.unpack_from(data)
    return unpack_work(data[MARK_LENGTH.size : MARK_LENGTH.size + length]) if length else None


def remove_mark(root: Path, owner: str) -> None:
    """Remove the mark of a process that is dead."""
    with suppress(OSError):  # it is gone already, or stays and says the same once more
        _file(root, owner).unlink(missing_ok=True)


def _file(root: Path, owner: str) -> Path:
    return root / "workers" / f"{owner}.mark"
