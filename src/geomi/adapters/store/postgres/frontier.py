"""`adapters.store.hot.HotPath`: this module has the functions that it asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from geomi.adapters.store.accounting.counters import FoundUrls
from geomi.adapters.store.accounting.hosts import as_lease, end_dead_lease, free_s, prolong
from geomi.adapters.store.hot import remaining_work
from geomi.adapters.store.postgres.cash import inherit_cash, terms_here
from geomi.adapters.store.postgres.claim import MOST_LOOKS, claim, first_due_s, reserve
from geomi.adapters.store.postgres.hosts import SQL as HOSTS
from geomi.adapters.store.postgres.hosts import (
    demands_on,
    is_crowded,
    lent,
    lock_hosts,
    lock_queues,
    permit,
    rest_hosts,
    write_hosts,
)
from geomi.adapters.store.postgres.links import LinkBatch, reopen
from geomi.adapters.store.postgres.links import add as add_links
from geomi.adapters.store.postgres.session import PostgresSession
from geomi.adapters.store.postgres.settle import settle
from geomi.adapters.store.rows import host_row
from geomi.adapters.store.tables.queues import end_dead_loans
from geomi.model.entry import Discovered, Lease, RemainingWork

__all__ = [
    "add",
    "claim",
    "outlook",
    "permit",
    "place",
    "release_dead",
    "renew",
    "reopen",
    "reserve",
    "settle",
]

_FIRST_LOOKS = 16  # nearly always one of the first queues in line is the next


def add(
    db: PostgresSession, job: str, tenant: str, urls: Sequence[Discovered], now_s: float
) -> int:
    """Put URLs into a job's frontier; return how many were new."""
    terms = terms_here(db, job, tenant)
    finds = FoundUrls()
    finds.take(terms.number, urls, now_s)
    links = LinkBatch(db, finds)
    new = add_links(db, links)
    if terms.share is not None:
        inherit_cash(db, terms, links)
    return new


def renew(
    db: PostgresSession, leases: Sequence[Lease], *, until_s: float, now_s: float
) -> list[Lease]:
    """Prolong leases that are still live."""
    rows = lock_hosts(db, [lease.host for lease in leases])
    live = [
        (lease, prolong(row, until_s=until_s))
        for lease in leases
        if (row := rows[lease.host]).token == lease.token and row.is_lent(now_s)
    ]
    if not live:
        return []
    write_hosts(db, [row for _, row in live])
    demands = demands_on(db, [lease.host for lease, _ in live])
    return [as_lease(row, lease.job, demands[lease.host], lease.entries) for lease, row in live]


def place(db: PostgresSession, lease: Lease, ip: str, *, per_ip: int, now_s: float) -> bool:
    """Record the address behind a host."""
    row = lock_hosts(db, [lease.host])[lease.host]
    if row.token != lease.token or not row.is_lent(now_s):
        return False
    write_hosts(db, [replace(row, state=replace(row.state, ip=ip))])
    return not is_crowded(db, lease.host, ip, per_ip=per_ip, now_s=now_s)


def outlook(db: PostgresSession, job: str, tenant: str, now_s: float) -> RemainingWork:
    """Say what is left of a job and when the next of it is due."""
    row = db.row(HOSTS["counts"], {"job": job, "tenant": tenant})
    if row is None:
        return RemainingWork(pending=0, leased=0, next_s=None)
    number, is_active, max_pages, max_hosts, settled, batch_left, batch_s, *counts = row
    leased, held, first_end_s = lent(db, job, now_s)
    has_all = (
        (max_pages and settled + leased >= max_pages)
        or (max_hosts and held >= max_hosts)
        or (batch_left is not None and leased >= batch_left)
    )
    next_s = None
    if is_active:
        next_s = first_end_s if has_all else _next_s(db, number)
    next_s = None if next_s is None else max(next_s, batch_s)
    return remaining_work(counts, leased, next_s)


def release_dead(db: PostgresSession, owners: Sequence[str], now_s: float) -> int:
    """End the leases of owners known to be dead."""
    end_dead_loans(db, owners, now_s)
    rows = [host_row(row) for row in db.rows(HOSTS["held_by"], {"owners": list(owners)})]
    if not rows:
        return 0
    demands = demands_on(db, [row.state.host for row in rows])
    buried = [end_dead_lease(row, demands[row.state.host], now_s=now_s) for row in rows]
    write_hosts(db, buried)
    lock_queues(db, (), buried)
    rest_hosts(db, buried)
    return len(buried)


def _next_s(db: PostgresSession, job: int) -> float | None:
    """Return the earliest time at which a queue can be lent.

    `ready_s` is never later than that time, so the walk ends at the first queue that is looked at
    after the best one found.
    """
    best_s: float | None = None
    for skip, many in ((0, _FIRST_LOOKS), (_FIRST_LOOKS, MOST_LOOKS - _FIRST_LOOKS)):
        lines = db.rows(HOSTS["queues_in_line"], {"job": job, "many": many, "skip": skip})
        hosts = {queue: host_row(tuple(columns)) for queue, _, *columns in lines}
        demands = demands_on(db, [row.state.host for row in hosts.values()])
        due_s = first_due_s(db, list(hosts))
        for queue, ready_s, *_ in lines:
            if best_s is not None and ready_s >= best_s:
                return best_s
            free = free_s(hosts[queue], demands[hosts[queue].state.host])
            when_s = max(ready_s, free, due_s[queue])
            best_s = when_s if best_s is None else min(best_s, when_s)
        if len(lines) < many:
            break
    return best_s
