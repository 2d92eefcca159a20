"""The census of the frontier: how many URLs of a job wait, and the states of its URLs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from geomi.model.entry import EntryFilter, EntryPage, RemainingWork, Tally, UrlEntry
from geomi.model.history import FIRST_CURSOR, PageCursor
from geomi.model.site import HostView, OutcomeCount
from geomi.model.verdict import Outcome, State

EntryEnding = tuple[State, Outcome | None, int | None]  # with the status, where there was an answer


class Census(Protocol):
    """Questions about the frontier that change nothing."""

    async def outlook(self, job: str, *, now_s: float) -> RemainingWork:
        """Return how many URLs of a job wait, and when the next is due."""
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

    async def qualities(self, job: str, *, thin_words: int) -> list[OutcomeCount]:
        """Count a job's pages by host, outcome and the way their content was found."""
        ...

    async def outcomes(self, job: str) -> Mapping[EntryEnding, int]:
        """Count a job's entries by state, outcome and status."""
        ...

    async def rows(
        self, job: str, which: EntryFilter, *, after: PageCursor = FIRST_CURSOR, limit: int
    ) -> EntryPage:
        """List some entries of a job in an order that stays, for paging."""
        ...

    async def hosts(self, *, after: str = "", limit: int) -> Sequence[HostView]:
        """List the hosts that the tenant's own jobs have met, by name, for paging.

        There are never more than `MAX_ENTRIES` at once: what ends a walk is an empty list.
        """
        ...

    async def release_dead(self, owners: Sequence[str], *, now_s: float) -> int:
        """End the leases of owners known to be dead: their hosts rest one delay from now.

        What they had borrowed from queues may be lent again at once. Return how many hosts.
        """
        ...
