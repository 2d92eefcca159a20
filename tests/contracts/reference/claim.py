"""Lending hosts: to a job with its best entries, or one named host to whoever has to ask it.

A queue is looked at when its `ready_s` has come. It is lent if its host is free, no other job has
waited longer for that host, its address has a place and nobody came before to it, and an entry is
due; otherwise `ready_s` moves to the time at which that may be so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from geomi.adapters.store.accounting.budget import share_of
from geomi.adapters.store.accounting.hosts import (
    CROWDED_S,
    LINE_S,
    YIELD_S,
    as_lease,
    free_s,
    has_to_yield,
    lend,
)
from geomi.frontier.importance import LONG_LEASE, lease_length
from geomi.frontier.region import RegionMap
from geomi.model.entry import Lease
from geomi.model.verdict import State
from geomi.model.worker import WorkKind
from tests.contracts.reference.cash import lift
from tests.contracts.reference.quotas import quota_left
from tests.contracts.reference.world import Book, Queue, World


@dataclass(frozen=True, slots=True)
class Ask:
    """Who asks for hosts, for which job, and for how long."""

    job: str
    tenant: str
    owner: str
    lease_s: float
    now_s: float

    @property
    def until_s(self) -> float:
        """When the lease would end."""
        return self.now_s + self.lease_s


def claim(world: World, ask: Ask, *, hosts: int, urls: int, wall_s: float) -> list[Lease]:
    """Lend up to `hosts` due hosts with up to `urls` due entries each."""
    book = world.find_book(ask.job, ask.tenant)
    if book is None or not book.is_active:
        return []
    if share_of(book.job.config) is not None:
        urls = lease_length(urls, book.job.stats.settled)
    hosts = int(min(hosts, hosts_left(world, book, ask.now_s)))
    left = min(hosts * urls, pages_left(world, book, ask.now_s))
    if ask.now_s < book.job.batch.ready_s:
        return []
    left = min(left, batch_left(world, book, ask.now_s))
    left = min(left, quota_left(world, ask.tenant, now_s=ask.now_s, wall_s=wall_s))
    leases: list[Lease] = []
    due = [
        queue
        for queue in book.queues.values()
        if queue.pending and queue.ready_s <= ask.now_s and _serves(world, book, queue, ask.owner)
    ]
    for queue in sorted(due, key=lambda q: (q.ready_s, q.host)):
        if left <= 0 or len(leases) >= hosts:
            break
        lease = _look(world, ask, book, queue, most=min(urls, left))
        if lease is not None:
            leases.append(lease)
            left -= len(lease.entries)
    return leases


def _serves(world: World, book: Book, queue: Queue, owner: str) -> bool:
    """Whether a worker may be lent a queue by its region."""
    rules = RegionMap(book.job.config.regions)
    card = world.workers.get(owner)
    return rules.label(queue.host) in rules.served_by(card.region if card else "")


def reserve(world: World, ask: Ask, *, host: str, delay_s: float) -> Lease | float:
    """Lend one named host without entries, or say when it is free."""
    row, demands = world.host(host), world.demands_on(host)
    demands = replace(demands, floor_s=max(demands.floor_s, delay_s))
    earliest_s = free_s(row, demands)
    if earliest_s > ask.now_s:
        return earliest_s
    book = world.find_book(ask.job, ask.tenant)
    if book and book.is_active and _is_crowded(world, book, host, ask.now_s):
        return ask.now_s + CROWDED_S
    lent = lend(row, owner=ask.owner, job=ask.job, entries=0, until_s=ask.until_s)
    world.put_host(lent)
    return as_lease(lent, ask.job, demands)


def pages_left(world: World, book: Book, now_s: float) -> float:
    """Return how many entries the page limit leaves to lend."""
    max_pages = book.job.config.limits.max_pages
    if not max_pages:
        return float("inf")
    lent = sum(row.leased for row in world.lent(book.job.id, now_s))
    return max_pages - book.job.stats.settled - lent


def batch_left(world: World, book: Book, now_s: float) -> float:
    """Return how many entries the job's batch leaves to lend."""
    batch = book.job.batch
    if not batch.number:
        return float("inf")
    every = [entry for queue in book.queues.values() for entry in queue.entries.values()]
    ended = sum(entry.state is not State.PENDING for entry in every)
    lent = sum(row.leased for row in world.lent(book.job.id, now_s))
    return batch.end - ended - lent


def hosts_left(world: World, book: Book, now_s: float) -> float:
    """Return how many more hosts the job may hold at once."""
    max_hosts = book.job.config.politeness.max_hosts
    return max_hosts - len(world.lent(book.job.id, now_s)) if max_hosts else float("inf")


def _look(world: World, ask: Ask, book: Book, queue: Queue, *, most: float) -> Lease | None:
    """Lend a queue's host, or put off the next look at it."""
    row, demands = world.host(queue.host), world.demands_on(queue.host)
    later_s = _hindered_until_s(world, ask, book, queue, free_s(row, demands))
    due = [entry for entry in queue.pending.values() if entry.due_s <= ask.now_s]
    if later_s or not due:
        queue.ready_s = later_s or queue.first_due_s()
        return None
    if share_of(book.job.config) is not None and most >= LONG_LEASE:
        due[0] = lift(queue, due[0])
    best = sorted(due, key=lambda entry: -entry.priority)[: int(most)]
    met = world.pages.keys() | world.refusals.keys()
    entries = tuple(
        replace(
            queue.tallied(entry),
            is_known=(ask.tenant, entry.url_hash) in met,
            deaths=world.deaths(ask.tenant, WorkKind.PAGE, entry.url_hash),
        )
        for entry in best
    )
    lent = lend(row, owner=ask.owner, job=ask.job, entries=len(entries), until_s=ask.until_s)
    world.put_host(lent)
    queue.ready_s, queue.served_s = ask.until_s, ask.now_s
    return as_lease(lent, ask.job, demands, entries)


def _hindered_until_s(
    world: World, ask: Ask, book: Book, queue: Queue, host_free_s: float
) -> float | None:
    """Return when to look again at a host that may not be lent now."""
    now_s = ask.now_s
    if host_free_s > now_s:
        return host_free_s
    if host_free_s + YIELD_S > now_s and _has_rivals(world, queue, now_s):
        return host_free_s + YIELD_S
    ip = world.host(queue.host).state.ip
    if ip is None:
        return None
    line, own = _line(world, ip, now_s), _number(world, ask.job)
    if _is_crowded(world, book, queue.host, now_s) or has_to_yield(line, own):
        world.lines[ip, ask.job] = line.get(own, now_s), now_s
        return now_s + CROWDED_S
    world.lines.pop((ip, ask.job), None)
    return None


def _line(world: World, ip: str, now_s: float) -> dict[int, float]:
    """Return since when each job waits for an address."""
    return {
        _number(world, job): since_s
        for (of_ip, job), (since_s, seen_s) in world.lines.items()
        if of_ip == ip and seen_s > now_s - LINE_S and job in world.books
    }


def _number(world: World, job: str) -> int:
    """Return what comes first of jobs that came at the same moment: the one made first."""
    return list(world.books).index(job)


def _has_rivals(world: World, queue: Queue, now_s: float) -> bool:
    """Whether another active job waits for the host and was served less recently."""
    served = (queue.served_s, queue.number)
    return any(
        other.ready_s <= now_s and (other.served_s, other.number) < served
        for _, other in world.waiting(queue.host)
    )


def _is_crowded(world: World, book: Book, host: str, now_s: float) -> bool:
    per_ip = book.job.config.politeness.per_ip
    return world.is_crowded(host, world.host(host).state.ip, per_ip=per_ip, now_s=now_s)
