"""A store opened for one tenant, on SQLite or PostgreSQL.

Each part is a table that is written once for both databases. Only the frontier gets work from its
database's own modules, for its speed.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

from geomi.adapters.store.hot import FrontierTable, HotPath
from geomi.adapters.store.session import Database
from geomi.adapters.store.sqlite import frontier as sqlite_frontier
from geomi.adapters.store.sqlite.connection import SqliteDatabase
from geomi.adapters.store.tables import facts
from geomi.adapters.store.tables.census import CensusTable
from geomi.adapters.store.tables.costs import CostTable
from geomi.adapters.store.tables.documents import DocumentTable
from geomi.adapters.store.tables.histories import HistoryTable, SweepTable
from geomi.adapters.store.tables.jobs import JobTable
from geomi.adapters.store.tables.journal import JournalTable, UnsentEventTable
from geomi.adapters.store.tables.named_values import DueValueTable, NamedValueTable
from geomi.adapters.store.tables.pages import PageTable
from geomi.adapters.store.tables.queues import QueueTable
from geomi.adapters.store.tables.quotas import QuotaTable
from geomi.adapters.store.tables.requests import RequestLogTable
from geomi.adapters.store.tables.retention import RetentionTable
from geomi.adapters.store.tables.robots import RobotsTable
from geomi.adapters.store.tables.roster import RosterTable
from geomi.adapters.store.tables.segments import SegmentTable
from geomi.adapters.store.tables.shares import ShareTable
from geomi.adapters.store.tables.sites import (
    DomainListTable,
    ProviderTable,
    RankTable,
    RefusalTable,
    SiteRuleTable,
)
from geomi.adapters.store.tables.suspects import SuspectTable
from geomi.adapters.store.tables.workers import WorkerTable
from geomi.errors import ExtraMissing
from geomi.ports.runtime import ClockAnchor, ServerClock

# Ten pages settle in 2 to 10 ms: a process that cannot write for this long is stuck behind another.
BUSY_TIMEOUT_S = 30.0


class StoreDatabase(Database, Protocol):
    """A database that can also be copied, cleaned and closed."""

    def backup(self, target: Path) -> None:
        """Copy the store as it is now, while others go on writing."""
        ...

    async def scrub(self) -> None:
        """Leave nothing readable of what was deleted."""
        ...

    def close(self) -> None:
        """Finish what is under way and close the connections."""
        ...


class DatabaseStore:
    """`ports.store.Store` of one tenant on one database."""

    def __init__(
        self,
        database: StoreDatabase,
        hot: HotPath,
        tenant: str,
        *,
        server_clock: ServerClock | None = None,
    ) -> None:
        self.database = database
        self._hot = hot
        self.tenant = tenant
        self.server_clock = server_clock
        self.frontier = FrontierTable(database, hot, tenant)
        self.census = CensusTable(database, hot, tenant)
        self.jobs = JobTable(database, tenant)
        self.journal = JournalTable(database, tenant)
        self.unsent_events = UnsentEventTable(database)
        self.roster = RosterTable(database)
        self.retention = RetentionTable(database, tenant)
        self.quotas = QuotaTable(database, tenant)
        self.pages = PageTable(database, tenant)
        self.histories = HistoryTable(database, tenant)
        self.sweeps = SweepTable(database, tenant)
        self.shares = ShareTable(database, tenant)
        self.documents = DocumentTable(database, tenant)
        self.costs = CostTable(database, tenant)
        self.robots = RobotsTable(database)
        self.requests = RequestLogTable(database)
        self.refusals = RefusalTable(database, tenant)
        self.domain_lists = DomainListTable(database)
        self.sites = SiteRuleTable(database, tenant)
        self.providers = ProviderTable(database, tenant)
        self.ranks = RankTable(database)
        self.suspects = SuspectTable(database, tenant)
        self.workers = WorkerTable(database)
        self.segments = SegmentTable(database, tenant)
        self.queues = QueueTable(database, tenant)
        self.named_values = NamedValueTable(database, tenant)
        self.due_values = DueValueTable(database)

    def open_for(self, tenant: str) -> DatabaseStore:
        """Open the same store for another tenant; both are closed with either."""
        other = DatabaseStore(self.database, self._hot, tenant, server_clock=self.server_clock)
        other.frontier.max_queued = self.frontier.max_queued
        return other

    def anchor(self) -> ClockAnchor | None:
        """Return what ties the store's time to a machine's clock."""
        return self.database.read_now(facts.get_anchor)

    def set_anchor(self, anchor: ClockAnchor, *, instead_of: ClockAnchor | None) -> ClockAnchor:
        """Tie the store's time anew unless another process did; return the anchor that holds."""
        return self.database.write_now(lambda db: facts.set_anchor(db, anchor, instead_of))

    def greatest_end_s(self) -> float:
        """Return the latest time at which any response is known to have ended."""
        return self.database.read_now(facts.greatest_end_s)

    def lease_owners(self) -> list[str]:
        """Name whoever holds a lease that was never given back, also one that has run out."""
        return self.database.read_now(facts.lease_owners)

    def backup(self, target: Path) -> None:
        """Copy the store as it is now, while others go on writing."""
        self.database.backup(target)

    async def scrub(self) -> None:
        """Leave nothing readable of what was deleted."""
        await self.database.scrub()

    def close(self) -> None:
        """Finish the write under way and close the store."""
        self.database.close()


def open_sqlite(
    path: Path, *, tenant: str, busy_timeout_s: float = BUSY_TIMEOUT_S
) -> DatabaseStore:
    """Open the store in a file, which is made or brought to this version's schema if need be."""
    database = SqliteDatabase(path, busy_timeout_s=busy_timeout_s)
    return DatabaseStore(database, sqlite_frontier, tenant)


def open_postgres(
    url: str,
    *,
    tenant: str,
    busy_timeout_s: float = BUSY_TIMEOUT_S,
    create: bool = True,
    waits: bool = False,
) -> DatabaseStore:
    """Open the store at a URL, and bring it to this version's schema if need be.

    Args:
        create: make the store where the database holds none.
        waits: give a server that is not there the time to come back.
    """
    if find_spec("psycopg") is None:
        raise ExtraMissing("a PostgreSQL database needs psycopg", extra="postgres")
    from geomi.adapters.store.postgres import frontier  # an extra
    from geomi.adapters.store.postgres.address import read_address
    from geomi.adapters.store.postgres.clock import PostgresClock
    from geomi.adapters.store.postgres.connection import PostgresDatabase

    address = read_address(url)
    database = PostgresDatabase(address, busy_timeout_s=busy_timeout_s, create=create, waits=waits)
    return DatabaseStore(database, frontier, tenant, server_clock=PostgresClock(database))
