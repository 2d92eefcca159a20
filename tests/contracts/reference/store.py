"""A memory store opened for one tenant, and the anchor of its time."""

from __future__ import annotations

from geomi.ports.runtime import ClockAnchor
from tests.contracts.reference.census import MemoryCensus
from tests.contracts.reference.costs import MemoryCosts
from tests.contracts.reference.documents import MemoryDocuments
from tests.contracts.reference.frontier import MemoryFrontier
from tests.contracts.reference.jobs import MemoryJobs
from tests.contracts.reference.journal import MemoryJournal, MemoryUnsentEvents
from tests.contracts.reference.log import MemoryRequestLog
from tests.contracts.reference.named_values import MemoryDueValues, MemoryNamedValues
from tests.contracts.reference.pages import MemoryPages
from tests.contracts.reference.providers import MemoryProviders
from tests.contracts.reference.queues import MemoryQueues
from tests.contracts.reference.quotas import MemoryQuotas
from tests.contracts.reference.ranks import MemoryRanks
from tests.contracts.reference.recrawl import MemoryHistories, MemorySweeps
from tests.contracts.reference.retention import MemoryRetention
from tests.contracts.reference.robots import MemoryRobotsCopies
from tests.contracts.reference.roster import MemoryRoster
from tests.contracts.reference.shares import MemoryShares
from tests.contracts.reference.sites import MemoryDomainLists, MemoryRefusals, MemorySiteRules
from tests.contracts.reference.workers import MemorySuspects, MemoryWorkers
from tests.contracts.reference.world import World


def open_memory(tenant: str) -> MemoryStore:
    """Open an empty store."""
    return MemoryStore(World(), tenant)


class MemoryStore:
    """Handles of one tenant on one set of dictionaries."""

    def __init__(self, world: World, tenant: str) -> None:
        self._world = world
        self.tenant = tenant
        self.frontier = MemoryFrontier(world, tenant)
        self.census = MemoryCensus(world, tenant)
        self.jobs = MemoryJobs(world, tenant)
        self.pages = MemoryPages(world, tenant)
        self.robots = MemoryRobotsCopies(world)
        self.requests = MemoryRequestLog(world)
        self.refusals = MemoryRefusals(world, tenant)
        self.domain_lists = MemoryDomainLists(world)
        self.sites = MemorySiteRules(world, tenant)
        self.providers = MemoryProviders(world, tenant)
        self.suspects = MemorySuspects(world, tenant)
        self.workers = MemoryWorkers(world)
        self.ranks = MemoryRanks(world)
        self.histories = MemoryHistories(world, tenant)
        self.sweeps = MemorySweeps(world, tenant)
        self.documents = MemoryDocuments(world, tenant)
        self.shares = MemoryShares(world, tenant)
        self.costs = MemoryCosts(world, tenant)
        self.named_values = MemoryNamedValues(world, tenant)
        self.due_values = MemoryDueValues(world)
        self.retention = MemoryRetention(world, tenant)
        self.roster = MemoryRoster(world)
        self.queues = MemoryQueues(world, tenant)
        self.quotas = MemoryQuotas(world, tenant)
        self.journal = MemoryJournal(world, tenant)
        self.server_clock = None
        self.unsent_events = MemoryUnsentEvents(world)

    def open_for(self, tenant: str) -> MemoryStore:
        """Open the same store for another tenant."""
        return MemoryStore(self._world, tenant)

    def anchor(self) -> ClockAnchor | None:
        """Return what ties the store's time to this machine's clock."""
        return self._world.anchor

    def set_anchor(self, anchor: ClockAnchor, *, instead_of: ClockAnchor | None) -> ClockAnchor:
        """Tie the store's time anew unless somebody else did; return the anchor that holds."""
        held = self._world.anchor
        if held is None or held == instead_of:
            held = self._world.anchor = anchor
        return held

    def greatest_end_s(self) -> float:
        """Return the latest time at which any response is known to have ended."""
        return max((row.state.last_end_s for row in self._world.hosts.values()), default=0.0)

    def close(self) -> None:
        """Forget nothing: another tenant may hold the same store."""
