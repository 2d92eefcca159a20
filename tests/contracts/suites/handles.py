"""What the suites need of a store: one tenant's handles on it, and how a store is opened."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from geomi.model.entry import UrlEntry
from geomi.ports.dataset import SeedQueues
from geomi.ports.frontier import Census as CensusPort
from geomi.ports.jobs import JobJournal, JobRetention, JobRoster, Quotas, UnsentEvents
from geomi.ports.named_values import DueValues, NamedValues
from geomi.ports.pages import Costs, Documents, Histories, Sweeps
from geomi.ports.runtime import ClockAnchor
from geomi.ports.sites import Providers, Ranks, Refusals, SiteRules
from geomi.ports.store import Frontier as FrontierPort
from geomi.ports.store import Jobs, Pages, RequestLog, RobotsCopies
from geomi.ports.workers import Workers


class Census(CensusPort, Protocol):
    """A census that may be told the host, where the caller knows it."""

    async def entry(self, job: str, url_hash: bytes, *, host: str | None = None) -> UrlEntry | None:
        """Find one URL of a job."""
        ...


class Frontier(FrontierPort, Protocol):
    """A frontier with a limit over all jobs, which belongs to whoever opened it."""

    max_queued: int


class Store(Protocol):
    """One tenant's handles on a store."""

    @property
    def frontier(self) -> Frontier: ...

    @property
    def census(self) -> Census: ...

    @property
    def jobs(self) -> Jobs: ...

    @property
    def pages(self) -> Pages: ...

    @property
    def robots(self) -> RobotsCopies: ...

    @property
    def requests(self) -> RequestLog: ...

    @property
    def refusals(self) -> Refusals: ...

    @property
    def sites(self) -> SiteRules: ...

    @property
    def providers(self) -> Providers: ...

    @property
    def workers(self) -> Workers: ...

    @property
    def ranks(self) -> Ranks: ...

    @property
    def histories(self) -> Histories: ...

    @property
    def sweeps(self) -> Sweeps: ...

    @property
    def documents(self) -> Documents: ...

    @property
    def costs(self) -> Costs: ...

    @property
    def drawers(self) -> NamedValues: ...

    @property
    def due_slips(self) -> DueValues: ...

    @property
    def queues(self) -> SeedQueues: ...

    @property
    def retention(self) -> JobRetention: ...

    @property
    def roster(self) -> JobRoster: ...

    @property
    def quotas(self) -> Quotas: ...

    @property
    def journal(self) -> JobJournal: ...

    @property
    def untold(self) -> UnsentEvents: ...

    def anchor(self) -> ClockAnchor | None: ...

    def set_anchor(self, anchor: ClockAnchor, *, instead_of: ClockAnchor | None) -> ClockAnchor: ...

    def greatest_end_s(self) -> float: ...


Stores = Callable[[str], Store]
