"""What is explored: few workers and few hosts, with the faults that may meet them.

Whatever two workers can do to one host they can do within some steps; more workers, more hosts and
more faults each have a scenario of their own, because all at once are too many.
"""

from __future__ import annotations

from dataclasses import replace

from tests.explore.state import SLOW_S, Fault, HostPlan, Scenario

SLOW = HostPlan("a.test:80", "192.0.2.1", SLOW_S)
QUICK = HostPlan("b.test:80", "192.0.2.2")
NEAR = (HostPlan("a.test:80", "192.0.2.1"), HostPlan("b.test:80", "192.0.2.1"))
THREE = (*NEAR, HostPlan("c.test:80", "192.0.2.3"))
ANY = dict.fromkeys(Fault, 2)

ONE_HOST = Scenario("two workers, one host", 2, (SLOW,), 13, ANY, most=2)
TWO_HOSTS = Scenario("two workers, two hosts", 2, (SLOW, QUICK), 9, ANY, most=1, seeds=1)
ONE_ADDRESS = Scenario("two workers, two hosts, one address", 2, NEAR, 10, ANY, most=1, seeds=1)
THREE_WORKERS = Scenario(
    "three workers, two hosts", 3, NEAR, 8, {Fault.CRASH: 1, Fault.STOP: 1}, most=1, seeds=1
)
THREE_HOSTS = Scenario("two workers, three hosts", 2, THREE, 8, {Fault.CRASH: 1}, most=1, seeds=1)

TWICE = Scenario(
    "two workers, one host, answers lost",
    2,
    (SLOW,),
    12,
    dict.fromkeys((Fault.LOSS, Fault.REPEAT, Fault.RETRY), 2),
    most=3,
    seeds=1,
)
DEEP = (ONE_HOST, TWICE, TWO_HOSTS, ONE_ADDRESS, THREE_WORKERS, THREE_HOSTS)
SHORT = (
    replace(ONE_HOST, depth=8, most=1),
    replace(TWICE, depth=6, most=2),
    replace(ONE_ADDRESS, depth=6),
)
