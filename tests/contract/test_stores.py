"""Every store, every suite."""

from __future__ import annotations

from geomi.testing.contracts.adding import TestAdding
from geomi.testing.contracts.asking import TestCensus, TestTenants, TestTime
from geomi.testing.contracts.attending import TestDuties, TestTurns, TestWorkers
from geomi.testing.contracts.beginning import TestBeginning, TestBeginningAtOnce, TestJobPages
from geomi.testing.contracts.borrowing import TestFencedLoans, TestLoans
from geomi.testing.contracts.budgeting import TestBudgets
from geomi.testing.contracts.capping import TestCaps, TestHostsAtOnce
from geomi.testing.contracts.claiming import TestClaiming, TestPageLimit, TestSharing
from geomi.testing.contracts.crowding import TestManyWorkers
from geomi.testing.contracts.drawers import TestDrawers, TestDueSlips
from geomi.testing.contracts.exhausting import TestQuotasAtOnce
from geomi.testing.contracts.expiring import TestRetention
from geomi.testing.contracts.fairness import TestFairness
from geomi.testing.contracts.journaling import TestJournal, TestJournalAtOnce, TestUntold
from geomi.testing.contracts.keeping import TestJobs, TestPages, TestRobotsCopies
from geomi.testing.contracts.knowing import TestDocuments
from geomi.testing.contracts.learning import TestHistories, TestStandings, TestSweeps
from geomi.testing.contracts.leasing import TestDeadOwners, TestRenewing, TestReserving
from geomi.testing.contracts.losing import TestLostSegments, TestOwners
from geomi.testing.contracts.metering import (
    TestDailyPages,
    TestLostBytes,
    TestQuotas,
    TestStorage,
)
from geomi.testing.contracts.ordering import TestCash, TestNothingWaitsForEver
from geomi.testing.contracts.paying import TestCosts
from geomi.testing.contracts.queueing import TestSending
from geomi.testing.contracts.ranking import TestRanks, TestVisited
from geomi.testing.contracts.recording import TestPatterns, TestRequestLog
from geomi.testing.contracts.reopening import TestReopening
from geomi.testing.contracts.rostering import TestRoster
from geomi.testing.contracts.settling import TestCounting, TestFencing, TestSettling
from geomi.testing.contracts.sites import TestProviders, TestRefusals, TestSiteRules
from geomi.testing.contracts.undertaking import (
    TestDeadLetters,
    TestQueuesAtOnce,
    TestSettledTasks,
    TestTaskTallies,
)
from geomi.testing.contracts.viewing import TestEntryPages, TestHostViews, TestJobCounts

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
    "TestDrawers",
    "TestDueSlips",
    "TestDuties",
    "TestEntryPages",
    "TestFairness",
    "TestFencedLoans",
    "TestFencing",
    "TestHistories",
    "TestHostViews",
    "TestHostsAtOnce",
    "TestJobCounts",
    "TestJobPages",
    "TestJobs",
    "TestJournal",
    "TestJournalAtOnce",
    "TestLoans",
    "TestLostBytes",
    "TestLostSegments",
    "TestManyWorkers",
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
    "TestRenewing",
    "TestReopening",
    "TestRequestLog",
    "TestReserving",
    "TestRetention",
    "TestRobotsCopies",
    "TestRoster",
    "TestSending",
    "TestSettledTasks",
    "TestSettling",
    "TestSharing",
    "TestSiteRules",
    "TestStandings",
    "TestStorage",
    "TestSweeps",
    "TestTaskTallies",
    "TestTenants",
    "TestTime",
    "TestTurns",
    "TestUntold",
    "TestVisited",
    "TestWorkers",
]
