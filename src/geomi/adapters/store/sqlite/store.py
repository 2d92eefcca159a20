"""A store opened for one tenant, its copy, and the anchor of its time."""

from __future__ import annotations

from pathlib import Path

from geomi.adapters.store.hot import FrontierTable
from geomi.adapters.store.sqlite import frontier as hot
from geomi.adapters.store.sqlite.connection import SqliteDatabase
from geomi.adapters.store.sqlite.queues import SqliteQueues
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
from geomi.ports.runtime import ClockAnchor

# Ten pages settle in 2 to 8 ms: a process that cannot write for this long is stuck behind another.
BUSY_TIMEOUT_S = 30.0


def open_sqlite(path: Path, *, tenant: str, busy_timeout_s: float = BUSY_TIMEOUT_S) -> SqliteStore:
    """Open the store in a file, which is made or brought to this version's schema if need be."""
    return SqliteStore(SqliteDatabase(path, busy_timeout_s=busy_timeout_s), tenant)


class SqliteStore:
    """Handles of one tenant on one file; its reads belong to the event loop's thread."""

    def __init__(self, database: SqliteDatabase, tenant: str) -> None:
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
        self.queues = SqliteQueues(database, tenant)
        self.quotas = QuotaTable(database, tenant)
        self.journal = JournalTable(database, tenant)
        self.server_clock = None
        self.unsent_events = UnsentEventTable(database)

    def open_for(self, tenant: str) -> SqliteStore:
        """Open the same store for another tenant; both are closed with either."""
        other = SqliteStore(self._database, tenant)
        other.frontier.max_queued = self.frontier.max_queued
        return other

    def anchor(self) -> ClockAnchor | None:
        """Return what ties the store's time to this machine's clock."""
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
        """Copy the store as it is now, while others go on writing."""
        self._database.backup(target)

    async def scrub(self) -> None:
        """Leave nothing in the file of what was deleted from it."""
        await self._database.scrub()

    def close(self) -> None:
        """Finish the write under way and close the file."""
        self._database.close()
