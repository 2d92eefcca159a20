"""What the suites need of a store: one tenant's handles on it, and how a store is opened."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from geomi.adapters.ledger.anchor import Anchor
from geomi.model.entry import UrlEntry
from geomi.ports.census import Census as CensusPort
from geomi.ports.drawers import Drawers, DueSlips
from geomi.ports.journal import Journal, Untold
from geomi.ports.knowledge import Costs, Documents
from geomi.ports.queues import Queues
from geomi.ports.recrawl import Histories, Sweeps
from geomi.ports.retention import Retention
from geomi.ports.site import Providers, Ranks, Refusals, SiteRules
from geomi.ports.store import Frontier as FrontierPort
from geomi.ports.store import Jobs, Pages, RequestLog, RobotsCopies
from geomi.ports.tenancy import Quotas, Roster
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
    def drawers(self) -> Drawers: ...

    @property
    def due_slips(self) -> DueSlips: ...

    @property
    def queues(self) -> Queues: ...

    @property
    def retention(self) -> Retention: ...

    @property
    def roster(self) -> Roster: ...

    @property
    def quotas(self) -> Quotas: ...

    @property
    def journal(self) -> Journal: ...

    @property
    def untold(self) -> Untold: ...

    def anchor(self) -> Anchor | None: ...

    def set_anchor(self, anchor: Anchor, *, instead_of: Anchor | None) -> Anchor: ...

    def greatest_end_s(self) -> float: ...


Stores = Callable[[str], Store]
