"""Every store, every suite."""

from __future__ import annotations

from geomi.testing.contracts.adding import TestAdding
from geomi.testing.contracts.asking import TestCensus, TestTenants, TestTime
from geomi.testing.contracts.claiming import TestClaiming, TestPageLimit, TestSharing
from geomi.testing.contracts.keeping import TestJobs, TestPages, TestRobotsCopies
from geomi.testing.contracts.leasing import TestDeadOwners, TestRenewing, TestReserving
from geomi.testing.contracts.settling import TestCounting, TestFencing, TestSettling

__all__ = [
    "TestAdding",
    "TestCensus",
    "TestClaiming",
    "TestCounting",
    "TestDeadOwners",
    "TestFencing",
    "TestJobs",
    "TestPageLimit",
    "TestPages",
    "TestRenewing",
    "TestReserving",
    "TestRobotsCopies",
    "TestSettling",
    "TestSharing",
    "TestTenants",
    "TestTime",
]
