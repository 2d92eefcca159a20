"""Durable state: the frontier, jobs, pages, robots copies, and the archive of bytes.

The claim protocol: the unit of a claim is the host. `claim` lends hosts that are due, `renew` keeps
them, `settle` closes visits and gives hosts back, all against a fencing token; a lease nobody
renews comes due by itself. `now_s` is always an argument.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from geomi.model.entry import (
    Batch,
    Discovered,
    Lease,
    Outlook,
    Settled,
    UrlEntry,
)
from geomi.model.job import CrawlJob
from geomi.model.page import Capture, CaptureRow, PageRecord, Ref
from geomi.model.robots import RobotsCopy, RobotsKey
from geomi.model.verdict import State


class Frontier(Protocol):
    """Which URL is next, for whom, and when."""

    async def add(self, job: str, urls: Sequence[Discovered], *, now_s: float) -> int:
        """Put URLs into a job's frontier; return how many were new."""
        ...

    async def claim(
        self, job: str, *, owner: str, hosts: int, urls: int, lease_s: float, now_s: float
    ) -> list[Lease]:
        """Lend up to `hosts` due hosts with up to `urls` due entries each, best priority first.

        Never lends a host before its next allowed time, nor one whose address already has its share
        of live leases, nor more entries than the job's page limit leaves.
        """
        ...

    async def reserve(
        self, job: str, host: str, *, owner: str, lease_s: float, delay_s: float, now_s: float
    ) -> Lease | float:
        """Lend one named host without entries, or return when it may be asked again."""
        ...

    async def renew(self, leases: Sequence[Lease], *, lease_s: float, now_s: float) -> list[Lease]:
        """Prolong leases; those that were lost are missing from the answer."""
        ...

    async def place(self, lease: Lease, ip: str, *, per_ip: int, now_s: float) -> bool:
        """Record the address behind a host; False when it has its share of leases already."""
        ...

    async def settle(self, batch: Batch) -> Settled:
        """Close visits and hosts in one transaction; nothing under a lost lease is written."""
        ...


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

    async def release_dead(self, owners: Sequence[str], *, now_s: float) -> int:
        """End the leases of owners known to be dead: their hosts rest one delay from now."""
        ...


class Jobs(Protocol):
    """The jobs of one tenant."""

    async def create(self, job: CrawlJob) -> None:
        """Keep a new job."""
        ...

    async def get(self, job: str) -> CrawlJob | None:
        """Find a job with its counters."""
        ...

    async def list(self, *, limit: int) -> list[CrawlJob]:
        """List jobs, newest first."""
        ...

    async def update(self, job: CrawlJob) -> None:
        """Write config, state, flags, times, stop reason and error.

        Counters belong to `settle` and the seconds worked to `worked`.
        """
        ...

    async def worked(self, job: str, seconds: float) -> None:
        """Add seconds of work to a job, beside whatever else changes it."""
        ...

    async def delete(self, job: str) -> None:
        """Forget a job, its entries and its captures."""
        ...


class Pages(Protocol):
    """What one tenant has collected."""

    async def get(self, url_hash: bytes) -> PageRecord | None:
        """Find a page by its identity."""
        ...

    async def twins(self, job: str, exact_keys: Sequence[bytes]) -> Mapping[bytes, str]:
        """Return the URL already kept under each exact key that is known."""
        ...

    async def near(self, job: str, simhash: int) -> list[tuple[str, int]]:
        """Return candidates (URL, simhash) that may be near duplicates."""
        ...

    async def feed(self, job: str, *, after: int, limit: int) -> list[CaptureRow]:
        """Return captures of a job after a cursor, in the order of commits."""
        ...

    async def cursor(self, job: str, name: str) -> tuple[int, int]:
        """Return (last sequence, committed length) of a derived output."""
        ...

    async def advance(self, job: str, name: str, *, seq: int, length: int) -> None:
        """Commit how far a derived output has come."""
        ...


class Segments(Protocol):
    """Which bytes of the archive the store counts on, for putting things in order after a crash."""

    async def ends(self, worker: str) -> Mapping[str, int]:
        """Return, for every segment of a worker, where the last committed capture in it ends."""
        ...

    async def job_ends(self, job: str) -> Mapping[str, int]:
        """Return the same for every segment of a job."""
        ...

    async def requeue(self, segments: Sequence[str]) -> int:
        """Forget the captures in lost segments; their URLs wait again. Return how many."""
        ...


class RobotsCopies(Protocol):
    """The robots.txt files fetched so far, for every tenant."""

    async def get(self, key: RobotsKey) -> RobotsCopy | None:
        """Find the newest copy."""
        ...

    async def put(self, copy: RobotsCopy) -> None:
        """Keep a copy in place of the one before."""
        ...


class Archive(Protocol):
    """Page bytes in segments that other tools can read."""

    async def append(self, job: str, captures: Sequence[Capture]) -> list[tuple[Ref, Ref | None]]:
        """Write captures; return where each record and response lies once the bytes are safe."""
        ...

    async def read(self, ref: Ref) -> bytes:
        """Return the payload at a place."""
        ...

    async def aclose(self) -> None:
        """Finish the open segment."""
        ...
