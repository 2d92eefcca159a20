"""The composition root: settings in, a running geomi out. Only it knows every adapter.

`home` opens a data directory and `store` the database behind it, `plan` reads what was asked for,
`run` crawls; `registry` and `takedown` are the use cases of providers, which need data that comes
with geomi and files on the disk beside the store. It never reads the environment and never talks to
people.
"""

from __future__ import annotations

from geomi.app.home import Home, egress_rules, open_home
from geomi.app.plan import Plan, make_plan
from geomi.app.recover import recover
from geomi.app.recrawl import Recrawled, look_again, recrawl
from geomi.app.run import Order, begin, crawl, gate_for, is_running, worker_for
from geomi.app.store import DATABASE, TENANT, has_store

__all__ = [
    "DATABASE",
    "TENANT",
    "Home",
    "Order",
    "Plan",
    "Recrawled",
    "begin",
    "crawl",
    "egress_rules",
    "gate_for",
    "has_store",
    "is_running",
    "look_again",
    "make_plan",
    "open_home",
    "recover",
    "recrawl",
    "worker_for",
]
