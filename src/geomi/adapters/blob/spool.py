"""Whole texts that wait to be indexed: a file each, `spool/<job>/<until>-<digest>`, compressed.

A file of its own, because a file that is removed is gone: a row that is deleted stays in the free
pages and the log of a database until all of it is written anew. What a killed process leaves half
written has the same time to live. A name that is not ours is not touched.
"""

from __future__ import annotations

import re
import shutil
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from geomi.adapters.blob.directory import checked_name
from geomi.adapters.machine.disk import place_file, refusal
from geomi.errors import BytesMissing, StoreError

if TYPE_CHECKING:
    from geomi.adapters.blob.bucket import Bucket

FOLDER = "spool"
LEVEL = 1  # it lives for minutes

_NAME = re.compile(r"([0-9]{1,12})-[0-9a-f]{32}(?:\.part)?")


class DirectorySpool:
    """`ports.archive.Spool` in a data directory."""

    def __init__(self, root: Path) -> None:
        self._root = root / FOLDER

    async def put(self, job: str, texts: Mapping[str, bytes]) -> None:
        """Let texts wait."""
        for name, text in texts.items():
            place_file(self._path(job, name), zlib.compress(text, LEVEL))

    async def get(self, job: str, name: str) -> bytes | None:
        """Return a text, if it is there and whole."""
        path = self._path(job, name)
        try:
            return _unpacked(path.read_bytes())
        except FileNotFoundError:
            return None
        except OSError as error:
            raise refusal(error, path) from error

    async def drop(self, job: str, names: Sequence[str]) -> None:
        """Erase texts, and the folder with the last of them."""
        for name in names:
            _remove(self._path(job, name))
        with suppress(OSError):  # others wait in it, or it was never made
            (self._root / checked_name(job, "job")).rmdir()

    async def erase(self, job: str) -> None:
        """Erase all that waits of a job."""
        folder = self._root / checked_name(job, "job")
        try:
            if folder.exists():
                shutil.rmtree(folder)
        except OSError as error:
            raise refusal(error, folder) from error

    async def sweep(self, *, wall_s: float) -> int:
        """Erase all whose time is over."""
        over = list(_over(self._root.glob("*/*"), wall_s))
        for path in over:
            _remove(path)
        for folder in {path.parent for path in over}:
            with suppress(OSError):
                folder.rmdir()
        return len(over)

    def _path(self, job: str, name: str) -> Path:
        return self._root / checked_name(job, "job") / _checked(name)


class BucketSpool:
    """`ports.archive.Spool` in a bucket, where every machine that enriches finds it."""

    def __init__(self, bucket: Bucket) -> None:
        self._bucket = bucket

    async def put(self, job: str, texts: Mapping[str, bytes]) -> None:
        """Let texts wait."""
        for name, text in texts.items():
            await self._bucket.put(_key(job, name), zlib.compress(text, LEVEL))

    async def get(self, job: str, name: str) -> bytes | None:
        """Return a text, if it is there and whole."""
        try:
            return _unpacked(await self._bucket.get(_key(job, name)))
        except BytesMissing:
            return None

    async def drop(self, job: str, names: Sequence[str]) -> None:
        """Erase texts."""
        await self._bucket.drop([_key(job, name) for name in names])

    async def erase(self, job: str) -> None:
        """Erase all that waits of a job."""
        await self._bucket.remove(f"{FOLDER}/{checked_name(job, 'job')}")

    async def sweep(self, *, wall_s: float) -> int:
        """Erase all whose time is over."""
        names = map(Path, await self._bucket.sizes(FOLDER))
        over = [path.as_posix() for path in _over(names, wall_s)]
        await self._bucket.drop(over)
        return len(over)


def _over(paths: Iterable[Path], wall_s: float) -> Iterator[Path]:
    for path in paths:
        named = _NAME.fullmatch(path.name)
        if named and int(named[1]) <= wall_s:
            yield path


def _key(job: str, name: str) -> str:
    return f"{FOLDER}/{checked_name(job, 'job')}/{_checked(name)}"


def _checked(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise StoreError(f"`{name}` is not a text that waits to be indexed")
    return name


def _unpacked(packed: bytes) -> bytes | None:
    try:
        return zlib.decompress(packed)
    except zlib.error:  # the machine lost its power before the disk had it
        return None


def _remove(path: Path) -> None:
    try:
        path.unlink()
    except FileNotFoundError:
        return
    except OSError as error:
        raise refusal(error, path) from error
