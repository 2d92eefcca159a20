"""Questions about the frontier: what is left of a job, and what became of its URLs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from geomi.model.entry import Outlook, Tally, UrlEntry
from geomi.model.site import Quality
from geomi.model.verdict import State


class Census(Protocol):
    """Questions about the frontier that change nothing."""

    async def outlook(self, job: str, *, now_s: float) -> Outlook:
        """Say what is left of a job and when the next of it is due."""
        ...

    async def entry(self, job: str, url_hash: bytes, *, host: str | None = None) -> UrlEntry | None:
        """Find one URL of a job; its host, where it is known, makes the search short."""
        ...

    async def entries(
        self, job: str, *, state: State | None, after: bytes, limit: int
    ) -> list[UrlEntry]:
        """List a job's entries in the order of their hashes, for paging."""
        ...

    async def exclusions(self, job: str) -> Mapping[str, tuple[int, tuple[str, ...]]]:
        """Return how often each rule kept a link out, with some examples."""
        ...

    async def patterns(self, job: str) -> list[tuple[str, str, Tally]]:
        """List (host, pattern, tally) of a job's counted patterns, the most visited first."""
        ...

    async def qualities(self, job: str, *, thin_words: int) -> list[Quality]:
        """Count a job's pages by host, outcome and the way their content was found."""
        ...

    async def release_dead(self, owners: Sequence[str], *, now_s: float) -> int:
        """End the leases of owners known to be dead: their hosts rest one delay from now."""
        ...
