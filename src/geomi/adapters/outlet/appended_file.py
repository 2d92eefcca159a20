"""Files that grow page by page, in the order of commits: pages.jsonl, llms-full.txt.

The store remembers the file's length at its last commit. Bytes past that length come from a run
that died before it could commit, and are cut off: no page appears twice. A shorter file was lost
or changed, and only a rebuild from the archive mends it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from geomi.adapters.machine.disk import refusal, write_whole


def json_lines(path: Path) -> AppendedFile:
    """Make `pages.jsonl`: one record a line."""
    return AppendedFile("jsonl", path, lambda record: record + b"\n")


class AppendedFile:
    """A file that grows only by what is committed.

    Args:
        name: its key in the store.
        shape: turns a page's record into the bytes that stand for it; there may be none.
    """

    def __init__(self, name: str, path: Path, shape: Callable[[bytes], bytes]) -> None:
        self.name = name
        self._path = path
        self._shape = shape
        self._fd = -1
        self._length = 0

    def open(self, committed: int) -> bool:
        """Cut the file back to its committed length; False when committed bytes are missing."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        self.close()
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._fd = os.open(self._path, flags, 0o644)
            if os.fstat(self._fd).st_size < committed:
                return False
            os.ftruncate(self._fd, committed)
        except OSError as error:
            raise refusal(error, self._path) from error
        self._length = committed
        return True

    def write(self, records: Sequence[bytes]) -> int:
        """Append the bytes of each record and return the new length, to be committed."""
        data = b"".join(map(self._shape, records))
        try:
            write_whole(self._fd, data)
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(self._fd, self._length)
            raise refusal(error, self._path) from error
        self._length += len(data)
        return self._length

    def close(self) -> None:
        """Close the file."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
