"""A dataset of the seed engine: files by their keys, in a directory or in a bucket."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Listed:
    """A file of a dataset."""

    key: str
    size: int


class Dataset(Protocol):
    """The files of one dataset.

    Keys are relative to its root, with `/` between their parts; one that would lead out of it is
    refused, and so is whatever would be written below `raw/` but checkpoints (SED-03). What is
    written is there as a whole, and safe, or not at all.
    """

    @property
    def name(self) -> str:
        """What the dataset is known by, in messages and in a database: its URL, no credential."""
        ...

    def list(self, prefix: str) -> AsyncIterator[Listed]:
        """Name the files whose keys begin with a prefix.

        Those of one folder are in the order of their names; in which order folders come, and what
        lies beside them, is the server's affair.
        """
        ...

    async def size(self, key: str) -> int | None:
        """Return how many bytes a file has; None where it is not there."""
        ...

    async def read(self, key: str, *, max_bytes: int) -> bytes | None:
        """Return a file; None where it is not there.

        One that is larger is refused before a byte of it is read: `SeedError`, validation_error.
        """
        ...

    async def add(self, key: str, data: bytes) -> bool:
        """Write a file that is not there yet; False, and nothing written, where it is."""
        ...

    async def put(self, key: str, data: bytes) -> None:
        """Write a file in place of the one before."""
        ...

    async def remove(self, key: str) -> None:
        """Remove a file; one that is not there may be named."""
        ...
