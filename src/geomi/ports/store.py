"""Durable state: one store with named parts, and the parts that every crawl uses.

`Store` names all parts. Those that are not here have modules of their own in this package.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from geomi.model.job import CrawlJob, JobBatch, JobFilter, JobState
from geomi.model.page import CaptureRow, KnownPage, PageRecord
from geomi.model.request_log import GoneRequests, SentRequest
from geomi.model.robots import RobotsCopy, RobotsKey
from geomi.ports.dataset import SeedQueues
from geomi.ports.frontier import Census, Frontier
from geomi.ports.jobs import JobJournal, JobRetention, JobRoster, Quotas, UnsentEvents
from geomi.ports.named_values import DueValues, NamedValues
from geomi.ports.pages import Costs, Documents, Histories, Shares, Sweeps
from geomi.ports.runtime import ClockAnchor, ServerClock
from geomi.ports.sites import DomainLists, Providers, Ranks, Refusals, SiteRules
from geomi.ports.workers import Suspects, Workers


class Jobs(Protocol):
    """The jobs of one tenant; each step of one is also written into its journal."""

    async def create(self, job: CrawlJob) -> None:
        """Keep a new job."""
        ...

    async def get(self, job: str) -> CrawlJob | None:
        """Find a job with its counters."""
        ...

    async def list(self, *, limit: int) -> list[CrawlJob]:
        """List jobs, newest first."""
        ...

    async def page(self, which: JobFilter, *, before: str = "", limit: int) -> Sequence[CrawlJob]:
        """List jobs by their ids, newest first, for paging: those before an id, or from the newest.

        There are never more than `MAX_LISTED_JOBS` at once: what ends a walk is an empty list.
        """
        ...

    async def counts(self) -> Mapping[JobState, int]:
        """Count jobs by state; a state that none is in is not named."""
        ...

    async def begin(self, job: str, *, most: int, wall_s: float) -> bool:
        """Start a pending job, if fewer than `most` jobs of its tenant have started.

        A job that was paused keeps its place; one that is paused does not begin. False, and nothing
        written, where it may not, or is not pending any more.

        Args:
            most: 0 is no limit.
        """
        ...

    async def update(self, job: CrawlJob, *, wall_s: float | None = None) -> None:
        """Write config, state, flags, times, stop reason and error.

        Counters belong to `settle` and the seconds worked to `worked`.

        Args:
            wall_s: when, for the journal; where nobody says, the latest of the job's own times.
        """
        ...

    async def turn(
        self,
        job: CrawlJob,
        *,
        was: JobState,
        only_empty: bool = False,
        most: int = 0,
        wall_s: float | None = None,
    ) -> bool:
        """Write state, times, stop reason and error of a job that is in the state `was`.

        False, and nothing written, if it is in another state: another process was faster.

        Args:
            only_empty: nor is anything written where one of its URLs still waits.
            most: nor where so many jobs of its tenant have begun; for one that was over and comes
                back, as with `begin`.
            wall_s: when, for the journal, as with `update`.
        """
        ...

    async def turn_batch(self, job: str, batch: JobBatch, *, was: int) -> bool:
        """Begin a batch after the one of the number `was`; False if another process was faster."""
        ...

    async def look_again(self, job: str, at_s: float | None, note: str = "") -> None:
        """Say when a watched crawl is looked at again, and what keeps its pages from a visit.

        Args:
            at_s: wall clock; None: not before somebody says so.
        """
        ...

    async def successor(self, job: str) -> str:
        """Name the newest crawl that has taken the place of a crawl; empty if none has.

        It has the same seeds and collection, was made later, and is completed.
        """
        ...

    async def worked(self, job: str, seconds: float) -> None:
        """Add seconds of work to a job, beside whatever else changes it."""
        ...

    async def delete(self, job: str) -> None:
        """Forget a job, its entries, its captures, its documents and its journal."""
        ...


class Pages(Protocol):
    """What one tenant has collected."""

    async def get(self, url_hash: bytes) -> PageRecord | None:
        """Find a page by its identity."""
        ...

    async def visited(self, url_hashes: Sequence[bytes]) -> Mapping[bytes, tuple[float, float]]:
        """Return when each page that is here was fetched last, and when it is due (wall clock)."""
        ...

    async def twins(self, job: str, exact_keys: Sequence[bytes]) -> Mapping[bytes, KnownPage]:
        """Return the first page of a job that was kept under each exact key, without its sketch."""
        ...

    async def near(self, sketch: bytes) -> list[KnownPage]:
        """Return originals of any job that share a band, of each the newest, in order of age."""
        ...

    async def feed(self, job: str, *, after: int, limit: int) -> list[CaptureRow]:
        """Return captures of a job after a cursor, in the order of commits."""
        ...

    async def cursor(self, job: str, name: str) -> tuple[int, int]:
        """Return (last sequence, committed length) of a derived output."""
        ...

    async def advance(self, job: str, name: str, *, after: int, seq: int, length: int) -> bool:
        """Commit how far a derived output has come since `after`.

        False, and nothing written, where it was rewound meanwhile: captures it holds were lost.
        """
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


class RequestLog(Protocol):
    """Every request that was sent, for every tenant, in the order of their starts."""

    async def hosts(self) -> list[str]:
        """List the hosts that were asked anything."""
        ...

    async def of_host(self, host: str, *, after_s: float, limit: int) -> list[SentRequest]:
        """List a host's requests that started after a time."""
        ...

    async def ips(self) -> list[str]:
        """List the addresses that were asked anything."""
        ...

    async def of_ip(self, ip: str, *, after_s: float, limit: int) -> list[SentRequest]:
        """List an address's requests that started after a time."""
        ...

    async def forget(self, *, before_s: float, limit: int) -> int:
        """Forget some of the oldest requests that started before a time, and return how many."""
        ...

    async def gone(self) -> GoneRequests:
        """Say how many requests the log has dropped for their age, and up to when."""
        ...


class Store(Protocol):
    """All that is kept, as one tenant sees it.

    Workers, robots copies, requests, lists of domains and ranks are the same for every tenant.
    """

    @property
    def tenant(self) -> str:
        """Whose jobs, pages and values these are."""
        ...

    @property
    def frontier(self) -> Frontier:
        """Which URL is next."""
        ...

    @property
    def census(self) -> Census:
        """What is in the frontier."""
        ...

    @property
    def jobs(self) -> Jobs:
        """The tenant's jobs."""
        ...

    @property
    def journal(self) -> JobJournal:
        """What happened to the tenant's jobs."""
        ...

    @property
    def unsent_events(self) -> UnsentEvents:
        """Events of jobs, of every tenant, that are not sent yet."""
        ...

    @property
    def roster(self) -> JobRoster:
        """The jobs of every tenant that need a worker."""
        ...

    @property
    def retention(self) -> JobRetention:
        """What is kept of jobs only for a time."""
        ...

    @property
    def quotas(self) -> Quotas:
        """What the tenant may use."""
        ...

    @property
    def pages(self) -> Pages:
        """What the tenant has collected."""
        ...

    @property
    def histories(self) -> Histories:
        """How the tenant's pages have changed."""
        ...

    @property
    def sweeps(self) -> Sweeps:
        """Who looks for missing pages of a recrawl."""
        ...

    @property
    def shares(self) -> Shares:
        """Which captures of the tenant's jobs are worked on."""
        ...

    @property
    def documents(self) -> Documents:
        """Which pages are in the index."""
        ...

    @property
    def costs(self) -> Costs:
        """What language models cost."""
        ...

    @property
    def robots(self) -> RobotsCopies:
        """The robots.txt files, for every tenant."""
        ...

    @property
    def requests(self) -> RequestLog:
        """The requests that were sent, for every tenant."""
        ...

    @property
    def refusals(self) -> Refusals:
        """URLs that must not be fetched again."""
        ...

    @property
    def domain_lists(self) -> DomainLists:
        """Subscribed lists of domains that no crawl visits."""
        ...

    @property
    def sites(self) -> SiteRules:
        """What people decided about sites."""
        ...

    @property
    def providers(self) -> Providers:
        """Registered providers."""
        ...

    @property
    def ranks(self) -> Ranks:
        """How well known domains are."""
        ...

    @property
    def suspects(self) -> Suspects:
        """Pages and other work that processes were reading when they died."""
        ...

    @property
    def workers(self) -> Workers:
        """Who works on the store."""
        ...

    @property
    def segments(self) -> Segments:
        """Which bytes of the archive are committed."""
        ...

    @property
    def queues(self) -> SeedQueues:
        """Queues of domains for the seed engine."""
        ...

    @property
    def named_values(self) -> NamedValues:
        """The tenant's small values."""
        ...

    @property
    def due_values(self) -> DueValues:
        """Values of every tenant that are due."""
        ...

    @property
    def server_clock(self) -> ServerClock | None:
        """The clock of the server that holds the store; None where a file of this machine does."""
        ...

    def open_for(self, tenant: str) -> Store:
        """Open the same store for another tenant; both are closed with either."""
        ...

    def anchor(self) -> ClockAnchor | None:
        """Return what ties the store's time to a machine's clock."""
        ...

    def set_anchor(self, anchor: ClockAnchor, *, instead_of: ClockAnchor | None) -> ClockAnchor:
        """Replace the clock anchor unless another process did; return the one that holds."""
        ...

    def greatest_end_s(self) -> float:
        """Return the latest time at which any response is known to have ended."""
        ...

    def lease_owners(self) -> list[str]:
        """Return the owners of leases that were never given back, expired ones included."""
        ...

    def backup(self, target: Path) -> None:
        """Copy the store as it is now, while others write."""
        ...

    async def scrub(self) -> None:
        """Leave nothing readable of what was deleted."""
        ...

    def close(self) -> None:
        """Finish the write under way and close the store."""
        ...
