"""Where bytes are kept: the archive of pages, and the texts that wait for the index.

Texts wait in a spool for pages that keep only a preview.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Protocol

from geomi.model.page import Capture, Ref


class KeptSitemaps(Protocol):
    """The sitemaps of jobs; a name is `{domain}/{hash}.xml`, or `.txt`."""

    async def keep(self, job: str, name: str, packed: bytes) -> None:
        """Keep a gzipped sitemap, in place of an earlier copy."""
        ...

    async def sizes(self, job: str) -> Mapping[str, int]:
        """Return the sitemaps of a job with the sizes that they are kept in."""
        ...

    async def read(self, job: str, name: str) -> bytes:
        """Return a sitemap, unpacked; `BytesMissing` where it is gone or damaged."""
        ...

    async def drop(self, job: str, names: Sequence[str]) -> None:
        """Remove sitemaps; a missing one is not an error."""
        ...


class Archive(Protocol):
    """Page bytes in segments that other tools can read, and sitemaps beside them."""

    @property
    def sitemaps(self) -> KeptSitemaps:
        """Where the sitemaps of jobs are kept."""
        ...

    async def append(self, job: str, captures: Sequence[Capture]) -> list[tuple[Ref, Ref | None]]:
        """Write captures; return where each record and response lies once the bytes are safe."""
        ...

    async def read(self, ref: Ref) -> bytes:
        """Return the payload at a place; `BytesMissing` where its segment is not, or not yet."""
        ...

    async def finish(self, job: str) -> None:
        """Finish a job's open segment, so that others can read it soon."""
        ...

    async def aclose(self) -> None:
        """Finish the open segment."""
        ...


class KeptArchive(Archive, Protocol):
    """An archive that can also be put in order, copied out of and erased."""

    def reaches(self, worker: str) -> bool:
        """Return whether what is missing here of a worker of another machine is missing at all."""
        ...

    async def mend(self, worker: str, ends: Mapping[str, int]) -> list[str]:
        """Repair a dead worker's segments and return those that lost committed bytes.

        Args:
            ends: the committed end of every segment of the worker that holds something committed.
        """
        ...

    async def check(self, ends: Mapping[str, int]) -> list[str]:
        """Return the segments that are missing or shorter than their committed end."""
        ...

    def whole(self, segment: str) -> AbstractAsyncContextManager[Path]:
        """Lend a segment as a file, to be read up to its committed end."""
        ...

    async def erase(self, job: str) -> None:
        """Remove every segment and every sitemap of a job."""
        ...

    async def blank(self, segment: str, places: Sequence[Ref], *, wall_s: float) -> None:
        """Overwrite some records of a closed segment, and their requests, with empty ones."""
        ...


class Spool(Protocol):
    """Texts of jobs, each for a time: a name begins with the second at which it must be gone."""

    async def put(self, job: str, texts: Mapping[str, bytes]) -> None:
        """Let texts wait."""
        ...

    async def get(self, job: str, name: str) -> bytes | None:
        """Return a text; None where it is gone, or not whole."""
        ...

    async def drop(self, job: str, names: Sequence[str]) -> None:
        """Erase texts; a missing one is not an error."""
        ...

    async def erase(self, job: str) -> None:
        """Erase all that waits of a job."""
        ...

    async def sweep(self, *, wall_s: float) -> int:
        """Erase all whose time is over, of every job and tenant; return how many."""
        ...
