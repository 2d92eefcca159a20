"""A store opened for one tenant, its copy, and the anchor of its time."""

from __future__ import annotations

import json
import sqlite3
from functools import partial
from pathlib import Path

from geomi.adapters.ledger.anchor import Anchor
from geomi.adapters.ledger.rows import legible
from geomi.adapters.sqlite.census import SqliteCensus
from geomi.adapters.sqlite.connection import Database
from geomi.adapters.sqlite.costs import SqliteCosts
from geomi.adapters.sqlite.documents import SqliteDocuments
from geomi.adapters.sqlite.drawers import SqliteDrawers, SqliteDueSlips
from geomi.adapters.sqlite.frontier import SqliteFrontier
from geomi.adapters.sqlite.hosts import SQL as HOSTS
from geomi.adapters.sqlite.jobs import SqliteJobs
from geomi.adapters.sqlite.journal import SqliteJournal, SqliteUntold
from geomi.adapters.sqlite.log import SqliteRequestLog
from geomi.adapters.sqlite.pages import SqlitePages
from geomi.adapters.sqlite.providers import SqliteProviders
from geomi.adapters.sqlite.queues import SqliteQueues
from geomi.adapters.sqlite.quotas import SqliteQuotas
from geomi.adapters.sqlite.ranks import SqliteRanks
from geomi.adapters.sqlite.recrawl import SqliteHistories, SqliteSweeps
from geomi.adapters.sqlite.retention import SqliteRetention
from geomi.adapters.sqlite.robots import SqliteRobotsCopies
from geomi.adapters.sqlite.roster import SqliteRoster
from geomi.adapters.sqlite.segments import SqliteSegments
from geomi.adapters.sqlite.sites import SqliteRefusals, SqliteSiteRules
from geomi.adapters.sqlite.workers import SqliteWorkers
from geomi.adapters.statements import statements

SQL = statements("sqlite", "meta")

# Ten pages settle in 2 to 8 ms: a process that cannot write for this long is stuck behind another.
BUSY_TIMEOUT_S = 30.0


def open_sqlite(path: Path, *, tenant: str, busy_timeout_s: float = BUSY_TIMEOUT_S) -> SqliteStore:
    """Open the store in a file, which is made or brought to this version's schema if need be."""
    return SqliteStore(Database(path, busy_timeout_s=busy_timeout_s), tenant)


class SqliteStore:
    """Handles of one tenant on one file; its reads belong to the event loop's thread."""

    def __init__(self, database: Database, tenant: str) -> None:
        self._database = database
        self.tenant = tenant
        self.frontier = SqliteFrontier(database, tenant)
        self.census = SqliteCensus(database, tenant)
        self.jobs = SqliteJobs(database, tenant)
        self.pages = SqlitePages(database, tenant)
        self.robots = SqliteRobotsCopies(database)
        self.requests = SqliteRequestLog(database)
        self.refusals = SqliteRefusals(database, tenant)
        self.sites = SqliteSiteRules(database, tenant)
        self.providers = SqliteProviders(database, tenant)
        self.ranks = SqliteRanks(database)
        self.segments = SqliteSegments(database, tenant)
        self.workers = SqliteWorkers(database)
        self.histories = SqliteHistories(database, tenant)
        self.sweeps = SqliteSweeps(database, tenant)
        self.documents = SqliteDocuments(database, tenant)
        self.costs = SqliteCosts(database, tenant)
        self.drawers = SqliteDrawers(database, tenant)
        self.due_slips = SqliteDueSlips(database)
        self.retention = SqliteRetention(database, tenant)
        self.roster = SqliteRoster(database)
        self.queues = SqliteQueues(database, tenant)
        self.quotas = SqliteQuotas(database, tenant)
        self.journal = SqliteJournal(database, tenant)
        self.untold = SqliteUntold(database)

    def open_for(self, tenant: str) -> SqliteStore:
        """Open the same store for another tenant; both are closed with either."""
        other = SqliteStore(self._database, tenant)
        other.frontier.max_queued = self.frontier.max_queued
        return other

    def anchor(self) -> Anchor | None:
        """Return what ties the store's time to this machine's clock."""
        with self._database.read() as db:
            return _anchor(db)

    def set_anchor(self, anchor: Anchor, *, instead_of: Anchor | None) -> Anchor:
        """Tie the store's time anew unless another process did; return the anchor that holds."""
        return self._database.write_now(partial(_set_anchor, anchor=anchor, instead_of=instead_of))

    def greatest_end_s(self) -> float:
        """Return the latest time at which any response is known to have ended."""
        with self._database.read() as db:
            return float(db.execute(HOSTS["greatest_end"]).fetchone()[0])

    def lease_owners(self) -> list[str]:
        """Name whoever holds a lease that was never given back, also one that has run out."""
        with self._database.read() as db:
            return [owner for (owner,) in db.execute(HOSTS["lease_owners"])]

    def backup(self, target: Path) -> None:
        """Copy the store as it is now, while others go on writing."""
        self._database.backup(target)

    async def scrub(self) -> None:
        """Leave nothing in the file of what was deleted from it."""
        await self._database.scrub()

    def close(self) -> None:
        """Finish the write under way and close the file."""
        self._database.close()


def _anchor(db: sqlite3.Connection) -> Anchor | None:
    row = db.execute(SQL["get"], ("anchor",)).fetchone()
    with legible("meta", "anchor"):
        return Anchor(*json.loads(row[0])) if row else None


def _set_anchor(db: sqlite3.Connection, *, anchor: Anchor, instead_of: Anchor | None) -> Anchor:
    holding = _anchor(db)
    if holding is not None and holding != instead_of:
        return holding
    value = json.dumps([anchor.boot_id, anchor.reading_s, anchor.time_s])
    db.execute(SQL["put"], ("anchor", value))
    return anchor
