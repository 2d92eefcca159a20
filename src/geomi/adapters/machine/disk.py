"""Files on a disk that may be full, read-only or someone else's.

Every write is whole or an error. Every refusal of the system becomes a `StoreError` that names the
path. Adapters that keep files share this module, because they may not import one another.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

from geomi.errors import StoreError, StoreFull

# Of a file's name in that of its unfinished part, which must not be longer than names may be.
PART_NAME_CHARS = 60

_NO_SPACE = frozenset({errno.ENOSPC, errno.EDQUOT})
_NO_RIGHT = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
_RIGHTS_HINT = "give this user the right to write there, or choose another data directory"


class DirectoryDisk:
    """`ports.runtime.Disk` of a directory, which must keep this many bytes free."""

    def __init__(self, root: Path, min_free_bytes: int) -> None:
        self._root = root
        self._min_free_bytes = min_free_bytes

    def has_space(self) -> bool:
        """Return whether enough of the disk is free for more writes."""
        return shutil.disk_usage(self._root).free >= self._min_free_bytes


def write_whole(fd: int, data: bytes) -> None:
    """Write every byte: the system may take fewer than it was given."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]


def close_whole(fd: int, path: Path) -> None:
    """Write a file and its name to the disk itself, and close it; its folder may be missing."""
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
    with suppress(FileNotFoundError):
        sync_folder(path.parent)


def sync_folder(path: Path) -> None:
    """Put the names in a folder on the disk itself."""
    folder = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Lend a file that takes its name once it is whole and on the disk itself."""
    # A name of its own: two that write the same file must not write into each other's.
    part = path.with_name(f".{path.name[:PART_NAME_CHARS]}.{uuid4().hex[:8]}.part")
    try:
        with part.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        raise refusal(error, path) from error
    finally:
        with suppress(OSError):  # where it could not be made, there is nothing to take away
            part.unlink()


def place_file(path: Path, data: bytes) -> None:
    """Write one of very many files: it appears whole, and is on the disk when the system likes."""
    part = path.with_suffix(".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(data)
        part.replace(path)
    except OSError as error:
        with suppress(OSError):  # what is in the way may be its folder
            part.unlink(missing_ok=True)
        raise refusal(error, path) from error


def refusal(error: OSError, path: Path) -> StoreError:
    """Say in our words why the system refused a file."""
    reason = os.strerror(error.errno) if error.errno else str(error)
    if error.errno in _NO_SPACE:
        return StoreFull(
            f"no space is left for `{path}`", hint="free some space, then resume the job"
        )
    hint = _RIGHTS_HINT if error.errno in _NO_RIGHT else ""
    return StoreError(f"`{path}` cannot be used: {reason}", hint=hint)
