"""Every store, every suite."""

from __future__ import annotations

from geomi.testing.contracts.adding import TestAdding
from geomi.testing.contracts.asking import TestCensus, TestTenants, TestTime
from geomi.testing.contracts.capping import TestCaps, TestHostsAtOnce
from geomi.testing.contracts.claiming import TestClaiming, TestPageLimit, TestSharing
from geomi.testing.contracts.crowding import TestManyWorkers
from geomi.testing.contracts.keeping import TestJobs, TestPages, TestRobotsCopies
from geomi.testing.contracts.learning import TestHistories, TestStandings, TestSweeps
from geomi.testing.contracts.leasing import TestDeadOwners, TestRenewing, TestReserving
from geomi.testing.contracts.losing import TestLostSegments, TestOwners
from geomi.testing.contracts.recording import TestPatterns, TestRequestLog
from geomi.testing.contracts.reopening import TestReopening
from geomi.testing.contracts.settling import TestCounting, TestFencing, TestSettling
from geomi.testing.contracts.sites import TestProviders, TestRefusals, TestSiteRules

__all__ = [
    "TestAdding",
    "TestCaps",
    "TestCensus",
    "TestClaiming",
    "TestCounting",
    "TestDeadOwners",
    "TestFencing",
    "TestHistories",
    "TestHostsAtOnce",
    "TestJobs",
    "TestLostSegments",
    "TestManyWorkers",
    "TestOwners",
    "TestPageLimit",
    "TestPages",
    "TestPatterns",
    "TestProviders",
    "TestRefusals",
    "TestRenewing",
    "TestReopening",
    "TestRequestLog",
    "TestReserving",
    "TestRobotsCopies",
    "TestSettling",
    "TestSharing",
    "TestSiteRules",
    "TestStandings",
    "TestSweeps",
    "TestTenants",
    "TestTime",
]
