"""Every store, every suite."""

from __future__ import annotations

from tests.contracts.suites.adding import TestAdding
from tests.contracts.suites.asking import TestCensus, TestTenants, TestTime
from tests.contracts.suites.attending import TestDuties, TestTurns, TestWorkers
from tests.contracts.suites.beginning import TestBeginning, TestBeginningAtOnce, TestJobPages
from tests.contracts.suites.borrowing import TestFencedLoans, TestLoans
from tests.contracts.suites.budgeting import TestBudgets
from tests.contracts.suites.capping import (
    TestCaps,
    TestDomainCaps,
    TestHostsAtOnce,
    TestJobBatches,
)
from tests.contracts.suites.claiming import TestClaiming, TestPageLimit, TestSharing
from tests.contracts.suites.crowding import TestManyWorkers
from tests.contracts.suites.exhausting import TestQuotasAtOnce
from tests.contracts.suites.expiring import TestRetention
from tests.contracts.suites.fairness import TestFairness
from tests.contracts.suites.journaling import TestJournal, TestJournalAtOnce, TestUntold
from tests.contracts.suites.keeping import TestJobs, TestPages, TestRobotsCopies
from tests.contracts.suites.knowing import TestDocuments
from tests.contracts.suites.learning import TestHistories, TestStandings, TestSweeps
from tests.contracts.suites.leasing import TestDeadOwners, TestRenewing, TestReserving
from tests.contracts.suites.losing import TestLostSegments, TestOwners
from tests.contracts.suites.metering import TestDailyPages, TestLostBytes, TestQuotas, TestStorage
from tests.contracts.suites.named_values import TestDueValues, TestNamedValues
from tests.contracts.suites.ordering import TestCash, TestNothingWaitsForEver
from tests.contracts.suites.paying import TestCosts
from tests.contracts.suites.queueing import TestSending
from tests.contracts.suites.ranking import TestRanks, TestVisited
from tests.contracts.suites.recording import TestPatterns, TestRequestLog
from tests.contracts.suites.regions import TestRegions, TestRegionsAtOnce
from tests.contracts.suites.reopening import TestReopening
from tests.contracts.suites.rostering import TestRoster
from tests.contracts.suites.settling import TestCounting, TestFencing, TestSettling
from tests.contracts.suites.sharing import TestShares, TestSharesAtOnce
from tests.contracts.suites.sites import TestDomainLists, TestProviders, TestRefusals, TestSiteRules
from tests.contracts.suites.suspecting import TestSuspects
from tests.contracts.suites.undertaking import (
    TestDeadLetters,
    TestQueuesAtOnce,
    TestSettledTasks,
    TestTaskTallies,
)
from tests.contracts.suites.viewing import (
    TestEntryPages,
    TestHostViews,
    TestJobCounts,
    TestResponseTimes,
)

__all__ = [
    "TestAdding",
    "TestBeginning",
    "TestBeginningAtOnce",
    "TestBudgets",
    "TestCaps",
    "TestCash",
    "TestCensus",
    "TestClaiming",
    "TestCosts",
    "TestCounting",
    "TestDailyPages",
    "TestDeadLetters",
    "TestDeadOwners",
    "TestDocuments",
    "TestDomainCaps",
    "TestDomainLists",
    "TestDueValues",
    "TestDuties",
    "TestEntryPages",
    "TestFairness",
    "TestFencedLoans",
    "TestFencing",
    "TestHistories",
    "TestHostViews",
    "TestHostsAtOnce",
    "TestJobBatches",
    "TestJobCounts",
    "TestJobPages",
    "TestJobs",
    "TestJournal",
    "TestJournalAtOnce",
    "TestLoans",
    "TestLostBytes",
    "TestLostSegments",
    "TestManyWorkers",
    "TestNamedValues",
    "TestNothingWaitsForEver",
    "TestOwners",
    "TestPageLimit",
    "TestPages",
    "TestPatterns",
    "TestProviders",
    "TestQueuesAtOnce",
    "TestQuotas",
    "TestQuotasAtOnce",
    "TestRanks",
    "TestRefusals",
    "TestRegions",
    "TestRegionsAtOnce",
    "TestRenewing",
    "TestReopening",
    "TestRequestLog",
    "TestReserving",
    "TestResponseTimes",
    "TestRetention",
    "TestRobotsCopies",
    "TestRoster",
    "TestSending",
    "TestSettledTasks",
    "TestSettling",
    "TestShares",
    "TestSharesAtOnce",
    "TestSharing",
    "TestSiteRules",
    "TestStandings",
    "TestStorage",
    "TestSuspects",
    "TestSweeps",
    "TestTaskTallies",
    "TestTenants",
    "TestTime",
    "TestTurns",
    "TestUntold",
    "TestVisited",
    "TestWorkers",
]
