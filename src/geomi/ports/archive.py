"""Where bytes are kept: the whole texts that wait for the index, of pages that keep only a
preview.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol


class Spool(Protocol):
    """Texts of jobs, each for a time: a name begins with the second at which it must be gone."""

    async def put(self, job: str, texts: Mapping[str, bytes]) -> None:
        """Let texts wait."""
        ...

    async def get(self, job: str, name: str) -> bytes | None:
        """Return a text; None where it is gone, or not whole."""
        ...

    async def drop(self, job: str, names: Sequence[str]) -> None:
        """Erase texts; those that are gone may be named again."""
        ...

    async def erase(self, job: str) -> None:
        """Erase all that waits of a job."""
        ...

    async def sweep(self, *, wall_s: float) -> int:
        """Erase all whose time is over, of every job and tenant; return how many."""
        ...
