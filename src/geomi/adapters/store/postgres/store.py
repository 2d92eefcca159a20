"""A store opened for one tenant, and the anchor of its time."""

from __future__ import annotations

from pathlib import Path

from geomi.adapters.store.hot import FrontierTable
from geomi.adapters.store.postgres import frontier as hot
from geomi.adapters.store.postgres.address import read_address
from geomi.adapters.store.postgres.clock import PostgresClock
from geomi.adapters.store.postgres.connection import PostgresDatabase
from geomi.adapters.store.postgres.migrate import SQL
from geomi.adapters.store.postgres.queues import PostgresQueues
from geomi.adapters.store.tables import facts
from geomi.adapters.store.tables.census import CensusTable
from geomi.adapters.store.tables.costs import CostTable
from geomi.adapters.store.tables.documents import DocumentTable
from geomi.adapters.store.tables.histories import HistoryTable, SweepTable
from geomi.adapters.store.tables.jobs import JobTable
from geomi.adapters.store.tables.journal import JournalTable, UnsentEventTable
from geomi.adapters.store.tables.named_values import DueValueTable, NamedValueTable
from geomi.adapters.store.tables.pages import PageTable
from geomi.adapters.store.tables.providers import ProviderTable
from geomi.adapters.store.tables.quotas import QuotaTable
from geomi.adapters.store.tables.ranks import RankTable
from geomi.adapters.store.tables.requests import RequestLogTable
from geomi.adapters.store.tables.retention import RetentionTable
from geomi.adapters.store.tables.robots import RobotsTable
from geomi.adapters.store.tables.roster import RosterTable
from geomi.adapters.store.tables.segments import SegmentTable
from geomi.adapters.store.tables.sites import RefusalTable, SiteRuleTable
from geomi.adapters.store.tables.workers import WorkerTable
from geomi.errors import StoreError
from geomi.ports.runtime import ClockAnchor

# Ten pages settle in some 10 ms: a process that waits for a lock this long is stuck behind another.
BUSY_TIMEOUT_S = 30.0


def open_postgres(
    url: str,
    *,
    tenant: str,
    busy_timeout_s: float = BUSY_TIMEOUT_S,
    create: bool = True,
    waits: bool = False,
) -> PostgresStore:
    """Open the store at a URL, and bring it to this version's schema if need be.

    Args:
        create: make the store where the database holds none.
        waits: give a server that is not there the time to come back.
    """
    address = read_address(url)
    database = PostgresDatabase(address, busy_timeout_s=busy_timeout_s, create=create, waits=waits)
    return PostgresStore(database, tenant)


class PostgresStore:
    """Handles of one tenant on one database."""

    def __init__(self, database: PostgresDatabase, tenant: str) -> None:
        self._database = database
        self.tenant = tenant
        self.frontier = FrontierTable(database, hot, tenant)
        self.census = CensusTable(database, hot, tenant)
        self.jobs = JobTable(database, tenant)
        self.pages = PageTable(database, tenant)
        self.robots = RobotsTable(database)
        self.requests = RequestLogTable(database)
        self.refusals = RefusalTable(database, tenant)
        self.sites = SiteRuleTable(database, tenant)
        self.providers = ProviderTable(database, tenant)
        self.ranks = RankTable(database)
        self.segments = SegmentTable(database, tenant)
        self.workers = WorkerTable(database)
        self.histories = HistoryTable(database, tenant)
        self.sweeps = SweepTable(database, tenant)
        self.documents = DocumentTable(database, tenant)
        self.costs = CostTable(database, tenant)
        self.named_values = NamedValueTable(database, tenant)
        self.due_values = DueValueTable(database)
        self.retention = RetentionTable(database, tenant)
        self.roster = RosterTable(database)
        self.queues = PostgresQueues(database, tenant)
        self.quotas = QuotaTable(database, tenant)
        self.journal = JournalTable(database, tenant)
        self.server_clock = PostgresClock(database)
        self.unsent_events = UnsentEventTable(database)

    @property
    def shown(self) -> str:
        """The URL of the store, without its password."""
        return self._database.shown

    def open_for(self, tenant: str) -> PostgresStore:
        """Open the same store for another tenant; both are closed with either."""
        other = PostgresStore(self._database, tenant)
        other.frontier.max_queued = self.frontier.max_queued
        return other

    def anchor(self) -> ClockAnchor | None:
        """Return what ties the store's time to a machine's clock."""
        return self._database.read_now(facts.get_anchor)

    def set_anchor(self, anchor: ClockAnchor, *, instead_of: ClockAnchor | None) -> ClockAnchor:
        """Tie the store's time anew unless another process did; return the anchor that holds."""
        return self._database.write_now(lambda db: facts.set_anchor(db, anchor, instead_of))

    def greatest_end_s(self) -> float:
        """Return the latest time at which any response is known to have ended."""
        return self._database.read_now(facts.greatest_end_s)

    def lease_owners(self) -> list[str]:
        """Name whoever holds a lease that was never given back, also one that has run out."""
        return self._database.read_now(facts.lease_owners)

    def backup(self, target: Path) -> None:
        """Refuse: a database server has better tools for that."""
        raise StoreError(
            f"the store `{self.shown}` is not a file that could be copied to `{target}`",
            hint="back it up with pg_dump or pg_basebackup, and the data directory beside it",
        )

    async def scrub(self) -> None:
        """Free the place of what was deleted, so that it is written over."""
        await self._database.read(lambda db: db.script(SQL["vacuum"]))

    def close(self) -> None:
        """Finish what is under way and close the connections."""
        self._database.close()
