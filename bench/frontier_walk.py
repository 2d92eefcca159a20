"""A crawl without a network: the link gate, the store's own claims and settlements."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from geomi.adapters.store.store import DatabaseStore
from geomi.engine.visit.links import LinkGate
from geomi.engine.visit.rules import JobRules
from geomi.engine.worker.loop import URLS_PER_LEASE
from geomi.frontier.priority import UNKNOWN_FRESHNESS, merit
from geomi.model.config import CrawlConfig, Limits, Politeness, Scope, UrlOrder, Within
from geomi.model.entry import Batch, Discovered, HostState, HostUpdate, Lease, Settlement
from geomi.model.job import CrawlJob, JobState
from geomi.model.page import PageLink
from geomi.model.verdict import Outcome, State
from geomi.url.parse import split
from tests.contracts.reference import MemoryStore

JOB = "walk"
LEASE_S = 600.0
DELAY_S = 1.0


@dataclass(frozen=True, slots=True)
class Page:
    """A page and its links."""

    url: str
    links: Sequence[str]


@dataclass(slots=True)
class Taken:
    """What a walk did.

    Args:
        cpu_s: of links, claims and settlements together.
    """

    urls: list[str] = field(default_factory=list)
    links: int = 0
    cpu_s: float = 0.0


async def walk(
    store: DatabaseStore | MemoryStore,
    pages: Mapping[str, Page],
    seeds: Sequence[str],
    order: UrlOrder,
    *,
    hosts: int = 1,
    most: int = 0,
) -> Taken:
    """Crawl pages until none waits, or so many are taken."""
    config = CrawlConfig(
        order=order,
        scope=Scope(within=Within.ANY, avoid_traps=False, block_defaults=False),
        politeness=Politeness(delay_s=DELAY_S),
        limits=Limits(max_pages=0, max_depth=1000),
    )
    rules = JobRules(config, seeds, now_year=9999)
    gate = LinkGate(rules)
    await store.jobs.create(CrawlJob(JOB, "local", tuple(seeds), config, JobState.PROCESSING, 0.0))
    found = [rules.seed(split(seed)) for seed in seeds]
    began = [_valued(one, config) for one in found if isinstance(one, Discovered)]
    now_s = DELAY_S
    await store.frontier.add(JOB, began, now_s=now_s)
    taken = Taken()
    links = {url: [PageLink(to, "", "") for to in page.links] for url, page in pages.items()}
    while not most or len(taken.urls) < most:
        began_s = time.process_time()
        leases = await store.frontier.claim(
            JOB, owner="walk", hosts=hosts, urls=URLS_PER_LEASE, lease_s=LEASE_S, now_s=now_s,
            wall_s=now_s,
        )  # fmt: skip
        if not leases:
            break
        visits = [
            await _visit(lease, place, gate, links, now_s, config)
            for lease in leases
            for place in range(len(lease.entries))
        ]
        await store.frontier.settle(
            Batch(tuple(visits), tuple(_given_back(lease, now_s) for lease in leases))
        )
        for visit in visits:
            gate.remember(visit.discovered)
            taken.urls.append(visit.entry.url)
            taken.links += len(links.get(visit.entry.url, ()))
        taken.cpu_s += time.process_time() - began_s
        now_s += 2 * DELAY_S
    return taken


async def _visit(
    lease: Lease,
    place: int,
    gate: LinkGate,
    links: Mapping[str, list[PageLink]],
    now_s: float,
    config: CrawlConfig,
) -> Settlement:
    entry = lease.entries[place]
    found = await gate.admit(entry, entry.url, links.get(entry.url, []), nofollow=False)
    return Settlement(
        entry=entry,
        token=lease.token,
        outcome=Outcome.OK,
        state=State.COMPLETED,
        settled_s=now_s,
        status=200,
        counts=True,
        discovered=tuple(_valued(one, config) for one in found.discovered),
        excluded=found.excluded,
        endorsed=found.endorsed,
    )


def _valued(found: Discovered, config: CrawlConfig) -> Discovered:
    """Value a find as the engine does where no list of ranks and no older page is known."""
    if config.order is not UrlOrder.WEIGHTED:
        return found
    worth = merit(config.weights, traffic=0.0, freshness=UNKNOWN_FRESHNESS)
    return replace(found, priority=worth)


def _given_back(lease: Lease, now_s: float) -> HostUpdate:
    state = HostState(lease.host, last_end_s=now_s)
    return HostUpdate(lease, state, now_s + DELAY_S)
