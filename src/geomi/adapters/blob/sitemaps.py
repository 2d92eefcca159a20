"""The sitemaps of jobs beside their segments: `jobs/<job>/sitemaps/<domain>/<hash>.xml.gz`.

It neither reads nor writes a name of another form.
"""

from __future__ import annotations

import asyncio
import re
import shutil
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from geomi.adapters.machine.disk import place_file, refusal
from geomi.errors import BytesMissing, StoreError
from geomi.url.host import MAX_FILE_NAME_CHARS

if TYPE_CHECKING:
    from geomi.adapters.blob.bucket import Bucket

PACKED = ".gz"
# As much as a sitemap may be (sitemaps.org); another program may have changed the file.
MAX_UNPACKED_BYTES = 52_428_800
_GZIP = 31  # zlib's way to say so
_JOB = re.compile(r"[A-Za-z0-9-]+")
_NAME = re.compile(rf"[a-z0-9_][a-z0-9._-]{{0,{MAX_FILE_NAME_CHARS}}}/[0-9a-f]{{64}}\.(?:xml|txt)")


@dataclass(frozen=True, slots=True)
class DirectorySitemaps:
    """`ports.archive.KeptSitemaps` in a data directory."""

    root: Path

    async def keep(self, job: str, name: str, packed: bytes) -> None:
        """Keep a sitemap, in place of an earlier copy."""
        await asyncio.to_thread(place_file, self.root / _path(job, name), packed)

    async def sizes(self, job: str) -> Mapping[str, int]:
        """Return the sitemaps of a job with their sizes."""
        folder = self.root / folder_of_sitemaps(job)
        files = await asyncio.to_thread(lambda: list(folder.glob(f"*/*{PACKED}")))
        return _named((path.relative_to(folder).as_posix(), path.stat().st_size) for path in files)

    async def read(self, job: str, name: str) -> bytes:
        """Return a sitemap as its site had it."""
        path = self.root / _path(job, name)
        try:
            return _unpacked(await asyncio.to_thread(path.read_bytes), name)
        except FileNotFoundError as error:
            raise BytesMissing(f"`{path}` is missing") from error
        except OSError as error:
            raise refusal(error, path) from error

    async def drop(self, job: str, names: Sequence[str]) -> None:
        """Remove sitemaps; a missing one is not an error."""
        for name in names:
            path = self.root / _path(job, name)
            try:
                await asyncio.to_thread(path.unlink, missing_ok=True)
            except OSError as error:
                raise refusal(error, path) from error

    async def erase(self, job: str) -> None:
        """Remove all sitemaps of a job."""
        folder = self.root / folder_of_sitemaps(job)
        try:
            if folder.exists():
                await asyncio.to_thread(shutil.rmtree, folder)
        except OSError as error:
            raise refusal(error, folder) from error


class BucketSitemaps:
    """`ports.archive.KeptSitemaps` in a bucket, where every machine finds them."""

    def __init__(self, bucket: Bucket) -> None:
        self._bucket = bucket

    async def keep(self, job: str, name: str, packed: bytes) -> None:
        """Keep a sitemap, in place of an earlier copy."""
        await self._bucket.put(_path(job, name), packed)

    async def sizes(self, job: str) -> Mapping[str, int]:
        """Return the sitemaps of a job with their sizes."""
        folder = folder_of_sitemaps(job)
        found = await self._bucket.sizes(folder)
        return _named((path.removeprefix(f"{folder}/"), size) for path, size in found.items())

    async def read(self, job: str, name: str) -> bytes:
        """Return a sitemap as its site had it."""
        return _unpacked(await self._bucket.get(_path(job, name)), name)

    async def drop(self, job: str, names: Sequence[str]) -> None:
        """Remove sitemaps; a missing one is not an error."""
        await self._bucket.drop([_path(job, name) for name in names])

    async def erase(self, job: str) -> None:
        """Remove all sitemaps of a job."""
        await self._bucket.remove(folder_of_sitemaps(job))


def folder_of_sitemaps(job: str) -> str:
    """Return where the sitemaps of a job lie."""
    if not _JOB.fullmatch(job):
        raise StoreError(f"`{job}` cannot name a job: use letters, digits and hyphens only")
    return f"jobs/{job}/sitemaps"


def _path(job: str, name: str) -> str:
    if not _NAME.fullmatch(name):
        raise StoreError(f"`{name}` does not name a sitemap")
    return f"{folder_of_sitemaps(job)}/{name}{PACKED}"


def _named(found: Iterable[tuple[str, int]]) -> dict[str, int]:
    names = ((path.removesuffix(PACKED), size) for path, size in found)
    return {name: size for name, size in names if _NAME.fullmatch(name)}


def _unpacked(data: bytes, name: str) -> bytes:
    try:
        return zlib.decompressobj(wbits=_GZIP).decompress(data, MAX_UNPACKED_BYTES)
    except zlib.error as error:
        raise BytesMissing(f"the sitemap {name} is damaged: {error}") from error
