"""A dataset in a directory.

Rules kept:
- A file appears whole and is on the disk itself, its name and the folders above it, too.
- A link that leads out of the root is not followed, a link to a folder is not listed (it could lead
  to itself), and nothing is written through one. What is no plain file is no file at all: a pipe
  would be read for ever.
- A root that somebody has moved or removed is not made anew, and does not count as an empty one.
- What a killed process left half written has a name that is no key; the next one that writes the
  same file does not meet it.
"""

from __future__ import annotations

import asyncio
import errno
import os
import re
import stat
from collections.abc import AsyncIterator, Iterator
from itertools import islice, takewhile
from pathlib import Path
from uuid import uuid4

from geomi.adapters.dataset.keys import checked_key, checked_prefix, too_large, writable_key
from geomi.adapters.machine.disk import refusal, sync_folder, whole_file
from geomi.errors import StoreError
from geomi.ports.dataset import DatasetFile

LISTED_AT_ONCE = 1000

_UNFINISHED = re.compile(r"\..*\.part", re.DOTALL)


class DirectoryDataset:
    """`ports.dataset.Dataset` in a directory that is there already."""

    def __init__(self, root: Path) -> None:
        self._root = Path(os.path.realpath(root))

    @property
    def name(self) -> str:
        """The dataset's URL: one, however its path was written."""
        return self._root.as_uri()

    async def list(self, prefix: str) -> AsyncIterator[DatasetFile]:
        """Name the files whose keys begin with a prefix, those of a folder in order."""
        folder, _, start = checked_prefix(prefix).rpartition("/")
        await asyncio.to_thread(self._check_root)
        walk = self._walk(f"{folder}/" if folder else "", start)
        while found := await asyncio.to_thread(lambda: tuple(islice(walk, LISTED_AT_ONCE))):
            for listed in found:
                yield listed

    async def size(self, key: str) -> int | None:
        """Return how many bytes a file has; None where it is not there."""
        return await asyncio.to_thread(self._size, checked_key(key))

    async def read(self, key: str, *, max_bytes: int) -> bytes | None:
        """Return a file; None if it is missing. A larger one is refused."""
        return await asyncio.to_thread(self._read, checked_key(key), max_bytes)

    async def add(self, key: str, data: bytes) -> bool:
        """Write a file that is not there yet; False, and nothing written, where it is."""
        return await asyncio.to_thread(self._add, writable_key(key), data)

    async def put(self, key: str, data: bytes) -> None:
        """Write a file in place of the one before."""
        await asyncio.to_thread(self._put, writable_key(key), data)

    async def remove(self, key: str) -> None:
        """Remove a file; a missing one is not an error."""
        await asyncio.to_thread(self._remove, writable_key(key))

    def _walk(self, folder: str, start: str) -> Iterator[DatasetFile]:
        """Walk a folder, whose name ends in `/`."""
        try:
            with os.scandir(self._path(folder)) as entries:
                named = sorted(
                    (
                        f"{entry.name}/" if entry.is_dir(follow_symlinks=False) else entry.name,
                        entry.is_symlink(),
                    )
                    for entry in entries
                    if entry.name.startswith(start) and not _UNFINISHED.fullmatch(entry.name)
                )
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as error:
            raise refusal(error, self._root / folder) from error
        for name, is_link in named:
            if not self._is_within(folder + name, is_link=is_link):
                continue
            if name.endswith("/"):
                yield from self._walk(folder + name, "")
            elif (size := self._size_at(self._root / folder / name)) is not None:
                yield DatasetFile(folder + name, size)

    def _is_within(self, key: str, *, is_link: bool) -> bool:
        """Whether something that lies there has a key, and leads to nowhere else.

        What is no link leads nowhere: to follow every name from the root takes most of the time.
        """
        try:
            checked_key(key.removesuffix("/"))
            if is_link:
                self._path(key)
        except StoreError:
            return False
        return True

    def _size(self, key: str) -> int | None:
        size = self._size_at(self._path(key))
        if size is None:
            self._check_root()
        return size

    def _size_at(self, path: Path) -> int | None:
        try:
            found = path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            if error.errno == errno.ELOOP:  # a link that leads to itself
                return None
            raise refusal(error, path) from error
        return found.st_size if stat.S_ISREG(found.st_mode) else None

    def _read(self, key: str, max_bytes: int) -> bytes | None:
        size, path = self._size(key), self._path(key)
        if size is None:
            return None
        if size > max_bytes:
            raise too_large(key, size, max_bytes)
        try:
            with path.open("rb") as file:
                data = file.read(max_bytes + 1)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise refusal(error, path) from error
        if len(data) > max_bytes:  # it has grown
            raise too_large(key, len(data), max_bytes)
        return data

    def _add(self, key: str, data: bytes) -> bool:
        path = self._place(key)
        if self._size(key) is not None:
            return False
        part = path.with_name(f".{uuid4().hex}.part")
        try:
            with whole_file(part) as file:
                file.write(data)
            os.link(part, path)
            sync_folder(path.parent)
        except FileExistsError:
            return False
        except OSError as error:
            raise refusal(error, path) from error
        finally:
            part.unlink(missing_ok=True)
        return True

    def _put(self, key: str, data: bytes) -> None:
        path = self._place(key)
        with whole_file(path) as file:
            file.write(data)
        try:
            sync_folder(path.parent)
        except OSError as error:
            raise refusal(error, path) from error

    def _remove(self, key: str) -> None:
        path = self._own(key)
        try:
            path.unlink(missing_ok=True)
            sync_folder(path.parent)
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as error:
            raise refusal(error, path) from error

    def _place(self, key: str) -> Path:
        """Return where a file is to be, once the folders above it are there and safe."""
        self._check_root()
        path = self._own(key)
        made = list(takewhile(lambda folder: not folder.exists(), path.parents))
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            for folder in made:
                sync_folder(folder.parent)
        except OSError as error:
            raise refusal(error, path) from error
        return path

    def _check_root(self) -> None:
        """Refuse a missing root: a new one in its place would be another dataset."""
        if not self._root.is_dir():
            raise StoreError(
                f"there is no dataset at `{self._root}` any more: it is not a folder",
                hint="put it back, or give its new place",
            )

    def _own(self, key: str) -> Path:
        """Return where a file is to be; a link in place of a folder could lead to raw data."""
        path = self._root / key
        if Path(os.path.realpath(path.parent)) != path.parent:
            raise self._strayed(key)
        return path

    def _path(self, key: str) -> Path:
        path = Path(os.path.realpath(self._root / key))
        if not path.is_relative_to(self._root):
            raise self._strayed(key)
        return path

    def _strayed(self, key: str) -> StoreError:
        return StoreError(
            f"`{key}` leads out of {self.name}/{key}",
            hint="replace the link by its target",
        )
