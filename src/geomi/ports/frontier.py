"""The frontier: which URL is next, and a census of the URLs that wait or are done.

The claim protocol: the unit of a claim is the host. `claim` lends hosts that are due, `renew` keeps
them, `settle` closes visits and gives hosts back, all against a fencing token; a lease that nobody
renews expires by itself. `now_s` is always an argument.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from geomi.model.entry import (
    Batch,
    Discovered,
    EntryFilter,
    EntryPage,
    Lease,
    RemainingWork,
    RequestCap,
    ResponseTimes,
    Settled,
    Tally,
    UrlEntry,
    WaitingRegion,
)
from geomi.model.history import FIRST_CURSOR, PageCursor
from geomi.model.index.document import StatusCount
from geomi.model.site import HostView, OutcomeCount, RequestWindow
from geomi.model.verdict import Outcome, State

EntryEnding = tuple[State, Outcome | None, int | None]  # with the status, where there was an answer


class Frontier(Protocol):
    """Which URL is next, for whom, and when.

    `max_queued` is how many URLs of all jobs may wait, by the settings; 0 is no limit.
    """

    max_queued: int

    async def add(self, job: str, urls: Sequence[Discovered], *, now_s: float) -> int:
        """Put URLs into a job's frontier; return how many were new."""
        ...

    async def reopen(self, job: str) -> int:
        """Let every page that a job has kept wait once more, for its links alone.

        For a job whose rules became wider: they were judged by the old ones. Return how many.
        """
        ...

    async def claim(
        self,
        job: str,
        *,
        owner: str,
        hosts: int,
        urls: int,
        lease_s: float,
        now_s: float,
        wall_s: float,
    ) -> list[Lease]:
        """Lend up to `hosts` due hosts with up to `urls` due entries each, best priority first.

        Never lends a host before its next allowed time, nor one whose address already has its share
        of live leases, nor more entries than the job's page limit leaves, or its tenant's quota of
        this day; nothing where the tenant may keep nothing more.
        """
        ...

    async def reserve(
        self, job: str, host: str, *, owner: str, lease_s: float, delay_s: float, now_s: float
    ) -> Lease | float:
        """Lend one named host without entries, or return when it may be asked again."""
        ...

    async def renew(self, leases: Sequence[Lease], *, lease_s: float, now_s: float) -> list[Lease]:
        """Prolong leases; lost ones are missing from the answer."""
        ...

    async def place(self, lease: Lease, ip: str, *, per_ip: int, now_s: float) -> bool:
        """Record the address behind a host; False when it has its share of leases already."""
        ...

    async def permit(self, caps: Sequence[RequestCap], *, now_s: float) -> float:
        """Take one request off the caps that all jobs with such a cap share (POL-03, POL-11).

        Return `now_s` when it may be sent now and is counted under each cap, else when to ask
        again. No window of an hour or a day, wherever it starts, holds more than its cap.
        """
        ...

    async def settle(self, batch: Batch) -> Settled:
        """Close visits and hosts in one transaction; nothing under a lost lease is written.

        The request log is the exception: what was asked was asked.
        """
        ...


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

    async def statuses(self, job: str, *, collection: str) -> Sequence[StatusCount]:
        """Count a job's entries by state and by what became of their documents (JOB-02).

        Args:
            collection: which documents of its pages are meant.
        """
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

    async def leases(self, host: str) -> int:
        """Return how often a host was lent, by whatever job and tenant."""
        ...

    async def response_times(self, job: str, *, limit: int) -> ResponseTimes:
        """Return how long the pages of a job took to answer, and which of its hosts are slowest."""
        ...

    async def regions(self, job: str) -> Sequence[WaitingRegion]:
        """Count what waits of a job by the regions that serve it; nothing where it names none."""
        ...

    async def windows(self, domain: str, *, now_s: float) -> Sequence[RequestWindow]:
        """List the counts of requests to a domain that have not expired, the newest first (DAT-04).

        The empty name stands for all requests together.
        """
        ...

    async def floor_s(self, host: str) -> float:
        """Return the longest delay among the active jobs of a host, whosever they are."""
        ...

    async def release_dead(self, owners: Sequence[str], *, now_s: float) -> int:
        """End the leases of owners known to be dead: their hosts rest one delay from now.

        What they had borrowed from queues may be lent again at once. Return how many hosts.
        """
        ...
