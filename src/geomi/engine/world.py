"""Bundle the ports that one worker was given, so that a use case names what it needs once.

`World` holds the ports, the clock and the name of this process. `Meter` adds up what the process
spends: time for claims and settlements, CPU for each stage, waits for hosts. It is read as one
event now and then; a page costs some microseconds more. `wait_for_event` waits with a limit.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from geomi.engine.meter import Meter
from geomi.model.markdown import MarkdownRules
from geomi.ports.census import Census
from geomi.ports.clock import Clock
from geomi.ports.compute import Compute
from geomi.ports.knowledge import Costs, Documents
from geomi.ports.recrawl import Histories, Sweeps
from geomi.ports.sink import EventSink
from geomi.ports.site import Providers, Ranks, Refusals, SiteRules
from geomi.ports.spool import Spool
from geomi.ports.store import (
    Archive,
    Frontier,
    Jobs,
    Pages,
    RequestLog,
    RobotsCopies,
)
from geomi.ports.tenancy import Quotas, Roster
from geomi.ports.web import Fetcher, Resolver
from geomi.ports.workers import Workers

# How long a worker may be silent before others may have what it holds. Half of it is the longest
# rest that a host is held for; a request in flight comes on top.
SILENCE_S = 60.0


@dataclass(frozen=True, slots=True)
class World:
    """Everything outside the engine that a crawl touches; `version` signs its requests.

    Args:
        silence_s: how long this worker may be silent before others may have what it holds.
        markdown_rules: functions of whoever started this process; no other process has them.
    """

    clock: Clock
    fetcher: Fetcher
    resolver: Resolver
    frontier: Frontier
    census: Census
    jobs: Jobs
    pages: Pages
    robots: RobotsCopies
    requests: RequestLog
    refusals: Refusals
    sites: SiteRules
    providers: Providers
    workers: Workers
    ranks: Ranks
    histories: Histories
    sweeps: Sweeps
    documents: Documents
    costs: Costs
    roster: Roster
    quotas: Quotas
    archive: Archive
    spool: Spool
    compute: Compute
    sink: EventSink
    rng: random.Random
    version: str
    owner: str
    silence_s: float = SILENCE_S
    meter: Meter = field(default_factory=Meter)
    markdown_rules: MarkdownRules = field(default_factory=dict)
